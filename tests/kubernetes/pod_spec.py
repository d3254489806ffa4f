"""What a pod's spec says about its one container: the image, the command, the variables and the user."""

import os
import re

ENTRYPOINT = ["/usr/bin/davit"]  # of the images that are run
NOBODY = 65532  # who runs a pod that must not be root and names no user
VOLUMES = ("configMap", "secret", "projected", "downwardAPI", "emptyDir", "persistentVolumeClaim")
PROBES = ("startupProbe", "livenessProbe", "readinessProbe")
REFERENCE = re.compile(r"\$\$|\$\(([-._a-zA-Z0-9]+)\)")


class NotYet(Exception):
    """The container cannot be started, or not yet; `reason` is the kubelet's word for it."""

    def __init__(self, message, reason="CreateContainerConfigError"):
        super().__init__(message)
        self.reason = reason


def image_name(image):
    """Without tag and digest; `stages_without` says the same in jq."""
    return re.sub(r":[^/]*$", "", re.sub(r"@.*$", "", image))


def stages_without(text, images):
    """KWOK's stages, so that no stage of a pod matches a pod of these images."""
    expression = f"""    matchExpressions:
    - key: '.spec.containers[0].image | sub("@.*$"; "") | sub(":[^/]*$"; "")'
      operator: NotIn
      values: [{", ".join(sorted(images))}]
"""
    stages = []
    for stage in text.split("---\n"):
        if "    kind: Pod\n" in stage:
            if stage.count("    matchExpressions:\n") != 1:
                raise ValueError(f"a stage of pods without a list matchExpressions:\n{stage}")
            stage = stage.replace("    matchExpressions:\n", expression)
        stages.append(stage)
    return "---\n".join(stages)


def check_supported(pod):
    """Raises NotYet when the pod needs what is not there: a message is better than half a pod."""
    spec = pod["spec"]
    container = spec["containers"][0]
    if len(spec["containers"]) > 1 or spec.get("initContainers"):
        raise NotYet("a pod of one container is run, without init containers")
    for volume in spec.get("volumes", []):
        if not any(kind in volume for kind in VOLUMES):
            raise NotYet(f"volume {volume['name']}: only {', '.join(VOLUMES)} are there")
    for mount in container.get("volumeMounts", []):
        if "subPathExpr" in mount:
            raise NotYet(f"volumeMount {mount['mountPath']}: there is no subPathExpr")
    for probe in PROBES:
        if probe in container and "httpGet" not in container[probe]:
            raise NotYet(f"{probe}: only httpGet is there")
    if security(pod, "runAsNonRoot") and security(pod, "runAsUser") == 0:
        raise NotYet("runAsUser is root, and runAsNonRoot is true")


def security(pod, field):
    """Of the container, else of the pod."""
    for level in (pod["spec"]["containers"][0], pod["spec"]):
        value = (level.get("securityContext") or {}).get(field)
        if value is not None:
            return value
    return None


def user(pod):
    """(user, group)"""
    who = security(pod, "runAsUser")
    if who is None:
        who = NOBODY if security(pod, "runAsNonRoot") else os.getuid()
    group = security(pod, "runAsGroup")
    return who, who if group is None else group


def field(pod, path, address):
    """What a fieldRef means."""
    metadata, spec = pod["metadata"], pod["spec"]
    known = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "status.podIP": address,
        "status.podIPs": address,
        "status.hostIP": address,
    }
    keyed = re.fullmatch(r"metadata\.(labels|annotations)\['(.*)'\]", path)
    if keyed:
        return metadata.get(keyed[1], {}).get(keyed[2], "")
    if path not in known:
        raise NotYet(f"fieldRef {path} is not there")
    return known[path]


def expand(text, variables):
    """$(NAME) as Kubernetes replaces it: what is not known stays, and $$ is a $."""
    return REFERENCE.sub(lambda m: "$" if m[1] is None else variables.get(m[1], m[0]), text)


def environment(pod, read, usual, address):
    """The container's variables over the `usual` ones. read(kind, namespace, name, optional) gives the entries of a
    ConfigMap or a Secret, as bytes."""
    container, namespace = pod["spec"]["containers"][0], pod["metadata"]["namespace"]
    out = dict(usual)
    for source in container.get("envFrom", []):
        for key, kind in (("configMapRef", "configmaps"), ("secretRef", "secrets")):
            if key in source:
                entries = read(kind, namespace, source[key]["name"], source[key].get("optional", False))
                out.update({source.get("prefix", "") + k: v.decode() for k, v in entries.items()})
    for variable in container.get("env", []):
        name, source = variable["name"], variable.get("valueFrom")
        if source is None:
            out[name] = expand(variable.get("value", ""), out)
        elif "fieldRef" in source:
            out[name] = field(pod, source["fieldRef"]["fieldPath"], address)
        else:
            value = entry(source, namespace, name, read)
            if value is not None:
                out[name] = value.decode()
    return out


def entry(source, namespace, variable, read):
    """The bytes of a configMapKeyRef or secretKeyRef; None if it is optional and not there."""
    for key, kind in (("configMapKeyRef", "configmaps"), ("secretKeyRef", "secrets")):
        if key in source:
            wanted = source[key]
            optional = wanted.get("optional", False)
            value = read(kind, namespace, wanted["name"], optional).get(wanted["key"])
            if value is None and not optional:
                raise NotYet(f"{kind} {wanted['name']} has no {wanted['key']}")
            return value
    raise NotYet(f"the source of the variable {variable} is not there")


def command_line(pod, stage, variables):
    """The words to execute: /usr/bin/NAME is the stage's bin/NAME if there is one."""
    container = pod["spec"]["containers"][0]
    words = [expand(word, variables) for word in (container.get("command") or ENTRYPOINT) + container.get("args", [])]
    own = stage / "bin" / words[0].rpartition("/")[2]
    if words[0] == f"/usr/bin/{own.name}" and own.is_file():
        words[0] = str(own)
    return words
