// Bytes, text and exact numbers: SHA-256, UTF-8, the normal form of terms, decimals.

/** What is wrong, in one line that a reader can act on. */
class Fault extends Error {
  /** @param {string} words
   * @param {string[]} [fields] Those of the form that are wrong, such as "low age". */
  constructor(words, fields = []) {
    super(words);
    this.fields = fields;
  }
}

/** Bytes that are turned into text or hashed at a time. */
const CHUNK = 2 ** 22;
/** Bytes of a file that this page reads at most; larger artifacts are for the command line. */
const MOST_BYTES = 2 ** 29;
const UTF8 = new TextEncoder();

/** The first primes.
 * @param {number} count */
function primes(count) {
  /** @type {number[]} */
  const found = [];
  for (let n = 2; found.length < count; n++) if (found.every(p => n % p)) found.push(n);
  return found;
}

/** The first 32 bits behind the point.
 * @param {number} value */
const fraction32 = value => ((value - Math.floor(value)) * 2 ** 32) >>> 0;
const ROUND_CONSTANTS = Uint32Array.from(primes(64), p => fraction32(Math.cbrt(p)));
const FIRST_STATE = Uint32Array.from(primes(8), p => fraction32(Math.sqrt(p)));

/** SHA-256 of what is added piece by piece (FIPS 180-4, section 6.2). */
class Sha256 {
  constructor() {
    this.state = FIRST_STATE.slice();
    this.schedule = new Uint32Array(64);
    this.block = new Uint8Array(64);
    this.filled = 0;
    this.length = 0;
  }

  /** @param {Uint8Array} bytes */
  update(bytes) {
    this.length += bytes.length;
    let at = 0;
    if (this.filled) {
      at = Math.min(64 - this.filled, bytes.length);
      this.block.set(bytes.subarray(0, at), this.filled);
      this.filled += at;
      if (this.filled < 64) return this;
      this.compress(this.block, 0);
      this.filled = 0;
    }
    for (; at + 64 <= bytes.length; at += 64) this.compress(bytes, at);
    this.block.set(bytes.subarray(at));
    this.filled = bytes.length - at;
    return this;
  }

  /** @param {Uint8Array} bytes
   * @param {number} at Where the block of 64 bytes begins. */
  compress(bytes, at) {
    const w = this.schedule;
    for (let t = 0; t < 16; t++, at += 4)
      w[t] = bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
    for (let t = 16; t < 64; t++) {
      const x = w[t - 15], y = w[t - 2];
      const small0 = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3;
      const small1 = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10;
      w[t] = w[t - 16] + small0 + w[t - 7] + small1;
    }
    let [a, b, c, d, e, f, g, h] = this.state;
    for (let t = 0; t < 64; t++) {
      const big1 = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7);
      const one = (h + big1 + (e & f ^ ~e & g) + ROUND_CONSTANTS[t] + w[t]) | 0;
      const big0 = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10);
      const two = (big0 + (a & b ^ a & c ^ b & c)) | 0;
      h = g; g = f; f = e; e = (d + one) | 0;
      d = c; c = b; b = a; a = (one + two) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, n) => { this.state[n] += word; });
  }

  /** The digest in hexadecimal digits; nothing can be added afterwards. */
  hex() {
    const bits = this.length * 8, tail = new Uint8Array(this.filled < 56 ? 64 : 128);
    tail.set(this.block.subarray(0, this.filled));
    tail[this.filled] = 0x80;
    const end = new DataView(tail.buffer);
    end.setUint32(tail.length - 8, Math.floor(bits / 2 ** 32));
    end.setUint32(tail.length - 4, bits >>> 0);
    for (let at = 0; at < tail.length; at += 64) this.compress(tail, at);
    return Array.from(this.state, word => word.toString(16).padStart(8, "0")).join("");
  }
}

/** SHA-256 of the bytes of a file, by the browser where it can.
 * @param {Uint8Array} bytes
 * @returns {Promise<string>} */
async function digestOf(bytes) {
  if (!globalThis.crypto?.subtle) return new Sha256().update(bytes).hex();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256",
    /** @type {BufferSource} */ (bytes)));
  return Array.from(digest, byte => byte.toString(16).padStart(2, "0")).join("");
}

/** The text of a small file.
 * @param {Uint8Array} bytes
 * @param {string} name */
function textOf(bytes, name) {
  try {
    return new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(bytes);
  } catch {
    throw new Fault(`${name} is not UTF-8 text`);
  }
}

/** A foreign text as it can be shown: no control character, no change of direction, not endless.
 * @param {unknown} value
 * @param {number} [most] */
function printable(value, most = 200) {
  const text = String(value);
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return cut.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu,
    sign => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Greek capitals with an iota behind, whose full upper case has two letters. */
const ONE_LETTER = new Map([[0xdf, 0x1e9e], [0x1fb3, 0x1fbc], [0x1fc3, 0x1fcc], [0x1ff3, 0x1ffc]]);

/** Upper case letter by letter: no letter becomes two.
 * @param {string} text */
function upper(text) {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toUpperCase();
  return Array.from(text, letter => {
    const high = letter.toUpperCase();
    if (Array.from(high).length === 1) return high;
    const code = letter.codePointAt(0) ?? 0;
    if (code >= 0x1f80 && code <= 0x1faf) return String.fromCodePoint(code | 8);
    return String.fromCodePoint(ONE_LETTER.get(code) ?? code);
  }).join("");
}

const INVISIBLE = new RegExp("[\\u{ad}\\u{34f}\\u{61c}\\u{115f}\\u{1160}\\u{17b4}\\u{17b5}"
  + "\\u{180b}-\\u{180f}\\u{200b}-\\u{200f}\\u{202a}-\\u{202e}\\u{2060}-\\u{206f}\\u{3164}"
  + "\\u{fe00}-\\u{fe0f}\\u{feff}\\u{ffa0}\\u{fff0}-\\u{fff8}\\u{1bca0}-\\u{1bca3}"
  + "\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]", "gu");
const BLANK = /[\t\n\v\f\r \u0085\u200b\ufeff\p{Z}]/u;

/** A text without white space at its ends, each sign looked at once.
 * @param {string} text */
function trimmed(text) {
  let from = 0, to = text.length;
  while (from < to && BLANK.test(text[from])) from += 1;
  while (to > from && BLANK.test(text[to - 1])) to -= 1;
  return text.slice(from, to);
}

/** The normal form of a term, in which spellings of one value are the same (SPEC, section 2).
 *
 * @param {string} text
 * @param {number} version Of the artifact: the first one trimmed and took upper case only.
 * @returns {string} Empty: no value. */
function normalForm(text, version) {
  if (version === 1) return upper(trimmed(text));
  return upper(trimmed(text.replace(INVISIBLE, "")).normalize("NFC"));
}

/** An exact decimal number: value / 10 ** scale. */
class Decimal {
  /** @param {bigint} value
   * @param {number} scale */
  constructor(value, scale) {
    this.value = value;
    this.scale = scale;
  }

  /** @param {string} text
   * @returns {Decimal | null} Null: it is no number of at most 18 digits on either side. */
  static of(text) {
    const found = /^([+-]?)([0-9]{1,18})(?:[.]([0-9]{1,18}))?$/.exec(text);
    if (!found) return null;
    const digits = BigInt(found[2] + (found[3] ?? ""));
    return new Decimal(found[1] === "-" ? -digits : digits, (found[3] ?? "").length);
  }

  /** @param {number} scale At least its own. */
  at(scale) {
    return this.value * 10n ** BigInt(scale - this.scale);
  }

  /** Less than 0: it is below the other one.
   * @param {Decimal} other */
  compare(other) {
    const scale = Math.max(this.scale, other.scale);
    const [one, two] = [this.at(scale), other.at(scale)];
    return one < two ? -1 : Number(one > two);
  }

  /** How many times a positive unit goes into it, rounded down, and whether nothing is left.
   * @param {Decimal} unit */
  over(unit) {
    const scale = Math.max(this.scale, unit.scale);
    const [one, two] = [this.at(scale), unit.at(scale)];
    const rest = ((one % two) + two) % two;
    return {floor: Number((one - rest) / two), exact: rest === 0n};
  }
}

/** Code points decide, as in a sort of UTF-8 bytes.
 * @param {string} one
 * @param {string} two */
function byCodePoint(one, two) {
  for (let n = 0; n < one.length && n < two.length; n++) {
    const [a, b] = [one.codePointAt(n) ?? 0, two.codePointAt(n) ?? 0];
    if (a !== b) return a - b;
  }
  return one.length - two.length;
}
