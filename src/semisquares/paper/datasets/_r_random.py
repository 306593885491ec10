"""R's random numbers, to recreate data published as a seed without R.

From the published algorithms, this is what R (before 3.6) does after ``set.seed(seed)``:

1. the seed is scrambled by 50 steps of the congruential generator ``s → 69069 s + 1 mod 2³²``, and
   the next 625 values fill the state of a Mersenne Twister (MT19937; Matsumoto & Nishimura 1998);
   the first of them is the position, which is set to "all 624 words are used";
2. a uniform number is a 32-bit word times 2⁻³², bounded away from 0 and 1;
3. a normal number is the quantile function (AS 241; Wichura 1988) at a uniform number made from two
   words, of which the first gives the leading 27 bits;
4. a sample without replacement takes item ``⌊n v⌋`` of the remaining ones, v uniform, and moves the
   last one to its place ("rounding" sampling; R 3.6 switched to rejection sampling).
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

WORD = 2**32
NEAREST = 0.5 * 2.328306437080797e-10
"""The least distance of a uniform number from 0 and 1: half of 1 / (2³² − 1), in R's digits."""
LEADING = 2**27
MOST_ITEMS = 10**7
"""For more items R may use another algorithm, which is not implemented here."""


class RRandom:
    """R's default generator after ``set.seed(seed)``.

    Parameters
    ----------
    seed : int
        The argument of ``set.seed``, a signed 32-bit integer.

    Examples
    --------
    >>> RRandom(42).uniform(3)
    array([0.91480604, 0.93707541, 0.28613953])
    >>> RRandom(42).normal(3)
    array([ 1.37095845, -0.56469817,  0.36312841])
    >>> RRandom(42).sample(10, 3)
    array([10,  9,  3])
    """

    def __init__(self, seed: int) -> None:
        if not isinstance(seed, int | np.integer) or not -(WORD // 2) < seed < WORD // 2:
            raise ValueError(f"seed={seed!r} is not a seed of R; give a whole number of 32 bits.")
        state = int(seed) % WORD  # 1
        words = []
        for _ in range(50 + 625):
            state = (69069 * state + 1) % WORD
            words.append(state)
        twister = np.random.MT19937(0)
        twister.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(words[51:], dtype=np.uint32), "pos": 624},
        }
        self._twister = twister

    def uniform(self, size: int) -> Array:
        """Draw numbers between 0 and 1: R's ``runif(size)``."""
        return np.clip(self._twister.random_raw(size) / WORD, NEAREST, 1.0 - NEAREST)  # 2

    def normal(self, size: int) -> Array:
        """Draw standard normal numbers: R's ``rnorm(size)``, from two uniform numbers each."""
        first, second = self.uniform(2 * size).reshape(size, 2).T
        quantile = NormalDist().inv_cdf  # 3: Python's is AS 241 as well
        return np.array([quantile(p) for p in (np.floor(LEADING * first) + second) / LEADING])

    def sample(self, n: int, size: int) -> NDArray[np.intp]:
        """Draw `size` of the numbers 1 … n without replacement: R's ``sample(n, size)``."""
        if not 0 <= size <= n <= MOST_ITEMS:
            raise ValueError(
                f"{size} of {n} items cannot be drawn; give size between 0 and n, and n at most "
                f"{MOST_ITEMS}."
            )
        left = np.arange(1, n + 1)
        drawn = np.empty(size, dtype=np.intp)
        for i, v in enumerate(self.uniform(size)):  # 4
            place = int((n - i) * v)
            drawn[i] = left[place]
            left[place] = left[n - i - 1]
        return drawn
