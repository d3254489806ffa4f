//! A little JSON: what documents and objects need. Numbers keep their text.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Value>),
    Object(BTreeMap<String, Value>),
}

const DEPTH_MAX: usize = 200;

impl Value {
    /// A member of a member: value.at(&["metadata", "name"]).
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self, |value, key| match value {
            Value::Object(members) => members.get(*key),
            _ => None,
        })
    }
    /// The text there; empty: there is none.
    pub fn text_at(&self, path: &[&str]) -> &str {
        match self.at(path) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
    fn write(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Value::Number(n) => out.push_str(n),
            Value::Text(t) => write_text(t, out),
            Value::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_text(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

pub fn text(value: &str) -> Value {
    Value::Text(value.to_string())
}
pub fn number(value: i64) -> Value {
    Value::Number(value.to_string())
}
pub fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

fn write_text(value: &str, out: &mut String) {
    out.push('"');
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// None: it is no JSON, or deeper than anybody writes it.
pub fn parse(input: &str) -> Option<Value> {
    let mut reader = Reader { bytes: input.as_bytes(), at: 0 };
    let value = reader.value(0)?;
    reader.space();
    (reader.at == reader.bytes.len()).then_some(value)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }
    fn takes(&mut self, word: &str) -> bool {
        let found = self.bytes[self.at..].starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }
    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEPTH_MAX {
            return None;
        }
        self.space();
        match *self.bytes.get(self.at)? {
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'"' => self.text().map(Value::Text),
            b't' => self.takes("true").then_some(Value::Bool(true)),
            b'f' => self.takes("false").then_some(Value::Bool(false)),
            b'n' => self.takes("null").then_some(Value::Null),
            _ => self.number(),
        }
    }
    fn number(&mut self) -> Option<Value> {
        let begin = self.at;
        while let Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.bytes[begin..self.at]).ok()?;
        text.parse::<f64>().ok()?;
        Some(Value::Number(text.to_string()))
    }
    fn list(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.takes("]") {
            return Some(Value::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.takes("]") {
                return Some(Value::List(items));
            }
            if !self.takes(",") {
                return None;
            }
        }
    }
    fn object(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut members = BTreeMap::new();
        self.space();
        if self.takes("}") {
            return Some(Value::Object(members));
        }
        loop {
            self.space();
            let key = self.text()?;
            self.space();
            if !self.takes(":") {
                return None;
            }
            members.insert(key, self.value(depth + 1)?);
            self.space();
            if self.takes("}") {
                return Some(Value::Object(members));
            }
            if !self.takes(",") {
                return None;
            }
        }
    }
    fn text(&mut self) -> Option<String> {
        if !self.takes("\"") {
            return None;
        }
        let mut out = Vec::new();
        loop {
            match *self.bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return String::from_utf8(out).ok();
                }
                b'\\' => {
                    let letter = self.escaped()?;
                    out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                0..=0x1f => return None,
                byte => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
    }
    fn escaped(&mut self) -> Option<char> {
        self.at += 2;
        Some(match *self.bytes.get(self.at - 1)? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => self.unicode()?,
            byte @ (b'"' | b'\\' | b'/') => byte as char,
            _ => return None,
        })
    }
    /// Two halves make one letter; a half alone stands for none.
    fn unicode(&mut self) -> Option<char> {
        let first = self.hex()?;
        if (0xd800..0xdc00).contains(&first) && self.takes("\\u") {
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                return char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            }
            return Some('\u{fffd}');
        }
        Some(char::from_u32(first).unwrap_or('\u{fffd}'))
    }
    fn hex(&mut self) -> Option<u32> {
        let digits = std::str::from_utf8(self.bytes.get(self.at..self.at + 4)?).ok()?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}
