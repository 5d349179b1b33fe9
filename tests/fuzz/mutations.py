"""Single mutations of bytes, or of a message of protobuf."""

import struct

NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    7,
    8,
    63,
    64,
    127,
    128,
    255,
    256,
    1023,
    65535,
    2**16,
    2**24,
    2**31 - 1,
    -(2**31),
    2**31,
    2**32,
    2**40,
    2**62,
    2**63 - 1,
    -(2**63),
]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 1e30, 3.4e38, 1e300, float("nan"), float("inf"), float("-inf")]
TEXTS = [
    "",
    "x",
    "@EMPTY@",
    "@GRAD",
    "x@GRAD",
    "feed",
    "fetch",
    "NCHW",
    "cpu",
    "gpu:0",
    "emulated:0",
    "\x1b[31m",
    "a\nb",
    "é" * 150,
    "\u202e\u009b",
    "_1" * 300,
    "../x",
    "/",
    "%s{}",
    "n" * 1025,
    "0",
    "[]",
    "\U0001f600",
]


def damaged(rng, data):
    """Mutated bytes: flipped, truncated, moved, repeated, or with another number in them."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if not data:
            return bytes(data)
        place, change = rng.randrange(len(data)), rng.randrange(8)
        if change <= 1:
            data[place] ^= 1 << rng.randrange(8)
        elif change == 2:
            data[place] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        elif change == 3:
            del data[place:]
        elif change == 4:
            del data[place : place + rng.choice((1, 2, 4, 8, 100))]
        elif change == 5:
            begin = rng.randrange(len(data))
            data[place:place] = data[begin : begin + rng.choice((1, 4, 16, 200))]
        elif change == 6:
            size, form = rng.choice(((4, "<I"), (8, "<Q"), (4, ">I")))
            number = struct.pack(form, rng.choice(NUMBERS) % 2 ** (8 * size))
            data[place : place + size] = number
        else:
            data[place:place] = rng.randbytes(rng.choice((1, 3, 8)))
    return bytes(data)


class Messages:
    """Mutations of messages of protobuf: fields cleared, repeated, swapped, or with another value. `texts`: words that
    have a meaning for the reader of the messages."""

    def __init__(self, texts=()):
        self.texts = list(texts)

    def change(self, rng, message):
        """One mutation, as likely deep inside as at the top."""
        fields = message.DESCRIPTOR.fields
        present = [field for field, _ in message.ListFields()]
        inside = [field for field in present if field.message_type is not None]
        if inside and rng.random() < 0.85:
            field = rng.choice(inside)
            value = getattr(message, field.name)
            if not field.is_repeated:
                return self.change(rng, value)
            if rng.random() < 0.8:
                return self.change(rng, value[rng.randrange(len(value))])
            return self.change_list(rng, message, field, value)
        field = rng.choice(present) if present and rng.random() < 0.8 else rng.choice(fields)
        if field.is_repeated:
            return self.change_list(rng, message, field, getattr(message, field.name))
        if field.message_type is not None:
            if message.HasField(field.name) and rng.random() < 0.5:
                message.ClearField(field.name)
            else:
                getattr(message, field.name).SetInParent()
        elif rng.random() < 0.1:
            message.ClearField(field.name)
        else:
            setattr(message, field.name, self.value(rng, field, getattr(message, field.name)))

    def change_list(self, rng, message, field, values):
        size, change = len(values), rng.randrange(5)
        if field.message_type is not None:
            if not size or change == 0:
                values.add()
            elif change == 1:
                del values[rng.randrange(size)]
            elif change == 2:
                values.add().CopyFrom(values[rng.randrange(size)])
            elif change == 3 and size > 1:
                a, b = rng.sample(range(size), 2)
                kept = type(values[a])()
                kept.CopyFrom(values[a])
                values[a].CopyFrom(values[b])
                values[b].CopyFrom(kept)
            else:
                message.ClearField(field.name)
        elif not size or change == 0:
            values.append(self.value(rng, field, values[0] if size else None))
        elif change == 1:
            del values[rng.randrange(size)]
        elif change == 2:
            values.extend([self.value(rng, field, values[0])] * rng.choice((1, 2, 5, 12)))
        else:
            place = rng.randrange(size)
            values[place] = self.value(rng, field, values[place])

    def value(self, rng, field, now):
        kind = field.cpp_type
        if kind == field.CPPTYPE_ENUM:
            return rng.choice(field.enum_type.values).number
        if kind == field.CPPTYPE_BOOL:
            return not now
        if kind in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
            return rng.choice(FLOATS)
        if kind == field.CPPTYPE_STRING:
            text = rng.choice(self.texts) if self.texts and rng.random() < 0.8 else rng.choice(TEXTS)
            return text.encode() if field.type == field.TYPE_BYTES else text
        number = rng.choice(NUMBERS) if now is None or rng.random() < 0.5 else now + rng.choice((-1, 1, 2, 1 << 20))
        bits = 64 if kind in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64) else 32
        number %= 1 << bits
        signed = kind in (field.CPPTYPE_INT32, field.CPPTYPE_INT64)
        return number - (1 << bits) if signed and number >> (bits - 1) else number
