"""The rule of the soak finds leaks and nothing else."""

import random
import unittest

import flat

MIB = 1 << 20


def samples(value, seconds=1200, every=5):
    noise = random.Random(3)
    return [(t, value(t) + noise.uniform(-0.5, 0.5) * MIB) for t in range(0, seconds, every)]


def memory(value):
    return flat.judge(samples(value), 1 * MIB, 0.02)


class Flat(unittest.TestCase):
    def test_noise_is_flat(self):
        self.assertTrue(memory(lambda t: 40 * MIB).flat)

    def test_what_happens_in_the_warm_up_does_not_count(self):
        self.assertTrue(memory(lambda t: min(40, 20 + t / 10) * MIB).flat)

    def test_spikes_and_an_early_or_late_step_are_flat(self):
        self.assertTrue(memory(lambda t: (40 + 30 * (t % 100 == 0)) * MIB).flat)
        self.assertTrue(memory(lambda t: (40 + 5 * (t > 450)) * MIB).flat)
        self.assertTrue(memory(lambda t: (40 + 5 * (t > 1100)) * MIB).flat)

    def test_a_fall_is_flat(self):
        self.assertTrue(memory(lambda t: (40 - t / 100) * MIB).flat)

    def test_a_slow_leak_is_found(self):
        found = memory(lambda t: (40 + 3 * t / 1200) * MIB)  # 2.5 KiB a second
        self.assertFalse(found.flat)
        self.assertGreater(found.last, found.first)

    def test_a_leak_behind_noise_is_found(self):
        self.assertFalse(memory(lambda t: (40 + 4 * t / 1200 + 6 * (t % 50 == 0)) * MIB).flat)

    def test_a_leak_in_steps_is_found(self):
        self.assertFalse(memory(lambda t: (40 + t // 200) * MIB).flat)

    def test_descriptors_that_are_left_open_are_found(self):
        self.assertFalse(flat.judge([(t, 50 + t // 100) for t in range(0, 1200, 5)], 2).flat)
        self.assertTrue(flat.judge([(t, 50 + t % 7) for t in range(0, 1200, 5)], 2).flat)

    def test_too_few_samples_say_nothing(self):
        with self.assertRaises(ValueError):
            flat.judge([(t, 1) for t in range(10)], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
