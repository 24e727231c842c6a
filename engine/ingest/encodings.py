"""The bytes of a text file become clean UTF-8 lines: its encoding, and the lines that do not fit.

A byte order mark says the encoding; else it is the declared one, else UTF-8. Of a file in UTF-8 a
stray byte is read as cp1252; of any other, what cannot be decoded becomes U+FFFD. Both are counted,
and so are the lines that have them.
"""

from __future__ import annotations

import codecs
import re
from array import array
from dataclasses import dataclass, field
from itertools import groupby

from srsql.engine.errors import IngestError

SEPARATOR = "\U0010fffe"
"""A noncharacter that no line holds after extraction: the line scan's column delimiter."""
RETURN = "\U0010ffff"
"""Stands for a carriage return inside a line, which DuckDB's reader would refuse."""
UTF_8 = "utf-8"
_CONTROL_BYTES = bytes(byte for byte in (*range(0x20), 0x7F) if byte != 0x0A)
_CONTROLS_BEYOND_ASCII = re.compile(rb"\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]")
"""Control characters and line ends but line feeds, as UTF-8 writes them."""
_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LONGEST_MARK = 4
_ODD = re.compile(f"[\ud800-\udfff\0{SEPARATOR}{RETURN}]")
_ODD_OR_REPLACED = re.compile(f"[\ud800-\udfff\0{SEPARATOR}{RETURN}\ufffd]")
_REPAIR = {
    chr(0xDC00 + byte): bytes([byte]).decode("cp1252", "ignore") or chr(byte)
    for byte in range(0x80, 0x100)
}
_ASCII = bytes(range(1, 0x80))
_BEYOND_ASCII = "éßñжあ漢汉한"
_SAMPLE = 1 << 18
"""Bytes of odd lines that are kept, to guess what encoding they have."""
_ANY, _KANA, _HANGUL = ".", "[\u3041-\u30ff]", "[\uac00-\ud7a3]"
_EAST_ASIAN = (
    ("cp932", "cp932", _ANY, 0.0),
    ("euc_jp", "euc_jp", _KANA, 0.1),  # with less it is Chinese, which takes the same bytes
    ("euc_kr", "euc_kr", _HANGUL, 0.95),
    ("gb18030", "gb2312", _ANY, 0.0),
    ("big5", "big5", _ANY, 0.0),
    ("gb18030", "gb18030", _ANY, 0.0),
)
"""Encoding, the codec by which most lines decode without a fault, and a kind of characters with the
least share of them in what was decoded."""
_LEAST_RUN, _LEAST_SHARE = 1.5, 0.9
"""Ideographs stand beside each other: what a mean run of them is at least, and their share of all
that is not ASCII. An accented letter that is read as half of one stands alone."""


@dataclass
class OddLines:
    """The lines of a file that its encoding does not fit."""

    encoding: str
    """The encoding by which the file was read."""
    numbers: array[int] = field(default_factory=lambda: array("q"))
    """Line numbers from 1, ascending."""
    sample: list[bytes] = field(default_factory=list)
    """The first of them as they are in the file; only of files that are read as UTF-8."""
    room: int = _SAMPLE

    def add(self, number: int, text: str) -> None:
        """Note a line by its number and its text; of one in two pieces, each piece comes."""
        if not self.numbers or self.numbers[-1] != number:
            self.numbers.append(number)
        if self.encoding == UTF_8 and self.room > 0:
            piece = text[: self.room].encode(UTF_8, "surrogateescape")
            self.sample.append(piece)
            self.room -= len(piece)

    def likely(self) -> str | None:
        """The encoding that the lines probably have; None: nothing points to one."""
        if any(b"\0" in line for line in self.sample):
            return _wide(self.sample)
        for encoding, codec, script, least in _EAST_ASIAN:
            if _reads_as_east_asian(self.sample, codec, script, least):
                return encoding
        return "cp1252" if self.sample else None


def _wide(sample: list[bytes]) -> str | None:
    """UTF-16 where every other byte is NUL, as in ASCII text; which half tells the byte order."""
    found = b"\n".join(sample)
    halves = [found[start::2].count(0) for start in (0, 1)]
    if sum(halves) * 4 < len(found):
        return None
    return "utf-16-le" if b"\0" in sample[0][1:2] else "utf-16-be"


def _reads_as_east_asian(sample: list[bytes], codec: str, script: str, least: float) -> bool:
    """Whether most lines decode without a fault, to runs of ideographs, kana or hangul.

    Args:
        sample: the lines.
        codec: how they are decoded.
        script: a regular expression of a character.
        least: the least share of such characters in these runs.
    """
    texts = []
    for line in sample:
        try:
            texts.append(line.decode(codec))
        except UnicodeDecodeError:
            continue
    if len(texts) <= len(sample) // 2:
        return False
    runs = [
        (kind, len(list(run)))
        for text in texts
        for kind, run in groupby(text, key=_kind_of)
        if kind != "ascii"
    ]
    lengths = [length for kind, length in runs if kind == "east asian"]
    others = sum(length for kind, length in runs if kind != "east asian")
    if sum(len(re.findall(script, text)) for text in texts) < least * sum(lengths):
        return False
    return bool(lengths) and (
        sum(lengths) >= _LEAST_RUN * len(lengths)
        and sum(lengths) >= _LEAST_SHARE * (sum(lengths) + others)
    )


def _kind_of(character: str) -> str:
    if character.isascii():
        return "ascii"
    wide = "\u3000" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3"
    return "east asian" if wide or "\uff00" <= character <= "\uff60" else "other"


class Cleaner:
    """Chunk by chunk: decoded, no byte order mark, LF line ends, in UTF-8.

    Args:
        declared: the encoding that the dataset declares; None: none.
    """

    def __init__(self, declared: str | None = None) -> None:
        self.repaired = 0
        self.returns = self.controls = False
        self.lines = 0
        """Line ends so far."""
        self.marked = False
        """A byte order mark said the encoding."""
        self._declared = declared
        self._read_by(declared or UTF_8)
        self._pending = b""
        self._mark = b""
        self._begun = False

    def _read_by(self, encoding: str) -> None:
        name = codecs.lookup(encoding).name
        self.odd = OddLines(UTF_8 if name in ("utf-8", "utf-8-sig") else encoding)
        own = self.odd.encoding == UTF_8
        self._decoder = codecs.getincrementaldecoder(self.odd.encoding)(
            "surrogateescape" if own else "replace"
        )
        self._odd = _ODD if own else _ODD_OR_REPLACED
        self._plain = own or _reads_ascii(encoding)

    def feed(self, chunk: bytes, *, final: bool) -> bytes:
        """The next chunk, clean; a carriage return at its end waits for the next one."""
        if not self._begun:
            self._mark += chunk
            if len(self._mark) < _LONGEST_MARK and not final:
                return b""
            chunk, self._mark = self._mark, b""
            self._find_mark(chunk)
        ascii_only = self._plain and chunk.isascii() and b"\0" not in chunk
        if ascii_only and not self._decoder.getstate()[0]:
            clean = self._pending + chunk  # as most chunks are: nothing to decode or to repair
            open_end = clean.endswith(b"\r")
        else:
            text = self._pending.decode() + self._decoder.decode(chunk, final)
            open_end = text.endswith("\r")
            if not self._begun:
                text = text.removeprefix("\ufeff")
            clean = self._without_odd(text).encode()
        self._begun = True
        self._pending = b""
        if open_end:
            self._pending, clean = b"" if final else b"\r", clean[:-1]
        if b"\r" in clean:
            clean = clean.replace(b"\r\n", b"\n")
            if b"\r" in clean:
                self.returns = True
                clean = clean.replace(b"\r", RETURN.encode())
        self.lines += clean.count(b"\n")
        self.controls = self.controls or has_controls(clean)
        return clean

    def _find_mark(self, begin: bytes) -> None:
        found = next((encoding for mark, encoding in _MARKS if begin.startswith(mark)), None)
        if found is not None:
            self.marked = True
            self._read_by(found)

    def _without_odd(self, text: str) -> str:
        if (text.isascii() and "\0" not in text) or self._odd.search(text) is None:
            return text
        for number, line in enumerate(text.split("\n"), self.lines + 1):
            if self._odd.search(line):
                self.odd.add(number, line)
        repairs = _REPAIR if self.odd.encoding == UTF_8 else {}
        text, count = self._odd.subn(lambda found: _repaired(found[0], repairs), text)
        self.repaired += count
        return text


def has_controls(text: bytes) -> bool:
    """Whether UTF-8 holds a control character but line feeds, or U+2028 or U+2029; to delete takes
    less time than to search."""
    if len(text.translate(None, _CONTROL_BYTES)) < len(text):
        return True
    return not text.isascii() and _CONTROLS_BEYOND_ASCII.search(text) is not None


def _repaired(odd: str, repairs: dict[str, str]) -> str:
    return "" if odd == "\0" else repairs.get(odd, "\ufffd")


def _reads_ascii(encoding: str) -> bool:
    """Whether bytes of ASCII are these characters, and no others are written in such bytes."""
    try:
        written = [character.encode(encoding, "ignore") for character in _BEYOND_ASCII]
        return _ASCII.decode(encoding) == _ASCII.decode("ascii") and not any(
            found and found.isascii() for found in written
        )
    except UnicodeError:
        return False


def need_fitting(file: str, odd: OddLines, lines: int, highest: float) -> None:
    """Refuse a file too many lines of which do not fit its encoding.

    Args:
        file: the name of the file, for the message.
        odd: its lines that do not fit.
        lines: how many it has.
        highest: the largest share that may be so, 0 to 1.

    Raises:
        IngestError: more of them are.
    """
    count = len(odd.numbers)
    if count > highest * lines:
        raise IngestError(
            f"{file}: {count:,} of {lines:,} lines ({count / lines:.1%}) are not "
            f"{odd.encoding} (the first is line {odd.numbers[0]}): {advice(odd)}; nothing was "
            f"changed (lines that fit no encoding count by --max-reject-rate, now {highest:g})"
        )


def header_advice(odd: OddLines | None) -> str:
    """What to do about a header that does not fit the encoding; empty: it does."""
    if odd is None or not odd.numbers or odd.numbers[0] != 1:
        return ""
    return f"the header is not {odd.encoding}: {advice(odd)}"


def advice(odd: OddLines) -> str:
    """What to do about lines that do not fit."""
    likely = odd.likely()
    if likely is None:
        return f'is encoding = "{odd.encoding}" under [source] of the dataset the right one?'
    return f'they look like {likely}: give encoding = "{likely}" under [source] of the dataset'
