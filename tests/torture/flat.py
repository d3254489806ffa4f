"""When a measurement is flat: the rule of the soak, apart from its measuring.

What was sampled is cut: the first quarter is warm-up. Of the rest the rise is Theil and Sen's slope (the median of the
slopes of all pairs of samples) times its duration: what it would have gained by growing steadily. A spike, noise, or one
step that is early or late does not move it; a leak does, however slow, in full. It is flat when that rise is at most
`absolute` plus `share` of the median. The medians of the first and the last third are for people to look at.
"""

import statistics
from dataclasses import dataclass

WARM_UP_SHARE = 0.25
SAMPLES_MIN = 12  # after the warm-up: fewer say nothing


@dataclass
class Judgement:
    first: float  # medians of the first and the last third
    last: float
    rise: float
    bound: float

    @property
    def flat(self):
        return self.rise <= self.bound


def judge(samples, absolute, share=0.0):
    """`samples`: (seconds, value), in order of time."""
    begin, end = samples[0][0], samples[-1][0]
    kept = [s for s in samples if s[0] >= begin + WARM_UP_SHARE * (end - begin)]
    if len(kept) < SAMPLES_MIN:
        raise ValueError(f"{len(kept)} samples after the warm-up: {SAMPLES_MIN} are needed")
    slopes = [(v2 - v1) / (t2 - t1) for n, (t1, v1) in enumerate(kept) for t2, v2 in kept[n + 1:] if t2 > t1]
    values = [v for _, v in kept]
    third = len(values) // 3
    return Judgement(statistics.median(values[:third]), statistics.median(values[-third:]),
                     statistics.median(slopes) * (kept[-1][0] - kept[0][0]),
                     absolute + share * statistics.median(values))
