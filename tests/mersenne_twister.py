# The random numbers of the C++ standard library, in Python: the reference for operators with a seed.
import numpy as np

_SIZE, _MIDDLE, _WORD = 312, 156, (1 << 64) - 1


def mt19937_64(seed):
    """M. Matsumoto and T. Nishimura's 64-bit Mersenne Twister, as std::mt19937_64 starts it from a seed."""
    state = [seed & _WORD]
    for i in range(1, _SIZE):
        state.append((6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + i) & _WORD)
    while True:
        for i in range(_SIZE):
            both = (state[i] & 0xFFFFFFFF80000000) | (state[(i + 1) % _SIZE] & 0x7FFFFFFF)
            state[i] = state[(i + _MIDDLE) % _SIZE] ^ (both >> 1) ^ (0xB5026F5AA96619E9 if both & 1 else 0)
        for word in state:
            word ^= (word >> 29) & 0x5555555555555555
            word ^= (word << 17) & 0x71D67FFFEDA60000
            word ^= (word << 37) & 0xFFF7EEE000000000
            yield word ^ (word >> 43)


def canonical(words, dtype):
    """Even in [0, 1): one word over 2^64, as std::generate_canonical of libstdc++."""
    real = np.dtype(dtype).type
    for word in words:
        value = real(word) / real(1 << 64)
        yield value if value < 1 else np.nextafter(real(1), real(0))


def uniform(seed, count, low, high, dtype):
    """std::uniform_real_distribution."""
    real, numbers = np.dtype(dtype).type, canonical(mt19937_64(seed), dtype)
    return np.array([next(numbers) * (real(high) - real(low)) + real(low) for _ in range(count)], dtype)


def normal(seed, count, mean, deviation, dtype):
    """std::normal_distribution: Marsaglia's polar method, both numbers of a pair used."""
    real, numbers = np.dtype(dtype).type, canonical(mt19937_64(seed), dtype)
    drawn = []
    while len(drawn) < count:
        x, y = (real(2) * next(numbers) - real(1) for _ in range(2))
        square = x * x + y * y
        if square > 1 or square == 0:
            continue
        factor = np.sqrt(real(-2) * np.log(square) / square)
        drawn += [y * factor, x * factor]
    return np.array(drawn[:count], dtype) * real(deviation) + real(mean)
