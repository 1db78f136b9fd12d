"""Files as a failing disk leaves them."""

from hypothesis import strategies as st


def damage(data, file):
    """Flip one bit of a file, or truncate it."""
    content = bytearray(file.read_bytes())
    if data.draw(st.booleans(), "flip"):
        bit = data.draw(st.integers(0, 8 * len(content) - 1), "bit")
        content[bit // 8] ^= 1 << bit % 8
    else:
        content = content[: data.draw(st.integers(0, len(content) - 1), "bytes kept")]
    file.write_bytes(content)
