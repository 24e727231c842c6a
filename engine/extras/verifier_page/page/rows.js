// The rows of an artifact: its files of comma-separated values, as tables of codes and texts.

/** Characters of a row, at most. */
const LONGEST_ROW = 2 ** 24;
const QUOTE = 34, COMMA = 44, LINE_FEED = 10, CARRIAGE_RETURN = 13;
const MARKED = /^'+[=+\-@\t\r]/;
const UNSAFE = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$/;

/** Texts and their numbers, side by side. */
class Dictionary {
  constructor() {
    /** @type {string[]} */
    this.values = [];
    /** @type {Map<string, number>} */
    this.known = new Map();
    /** @type {string[]} */
    this.netstrings = [];
  }

  /** @param {string} value */
  code(value) {
    let code = this.known.get(value);
    if (code === undefined) {
      code = this.values.length;
      this.values.push(value);
      this.known.set(value, code);
    }
    return code;
  }

  /** A value with its length in bytes, as content hashes have it.
   * @param {number} code -1: missing. */
  netstring(code) {
    if (code < 0) return "-,";
    this.netstrings[code] ??= `${UTF8.encode(this.values[code]).length}:${this.values[code]},`;
    return this.netstrings[code];
  }
}

/**
 * @typedef {{name: string, type: string, role: string, attribute: string | null,
 *   max_length?: number | null, dictionary: Dictionary, codes: number[], keyed: boolean}} Column A
 *   missing value has the code -1; keyed: its texts are terms that are compared by their keys.
 * @typedef {{name: string, columns: Column[], rows: number}} Rows Of one quarter.
 */

/** The column of a role; undefined: there is none.
 * @param {Rows} table
 * @param {string} role */
const withRole = (table, role) => table.columns.find(column => column.role === role);

/** A value of a row; null: missing.
 * @param {Column} column
 * @param {number} row */
const valueAt = (column, row) =>
  column.codes[row] < 0 ? null : column.dictionary.values[column.codes[row]];

/** One row of comma-separated values, strictly as artifacts have them.
 *
 * @param {string} text
 * @param {number} at Where the row begins.
 * @param {(string | null)[]} cells Are filled; null: nothing stands there, not even quotes.
 * @param {number} width Cells at most.
 * @returns {number} Where the next row begins; -1: the text ends before the row does. */
function parseRow(text, at, cells, width) {
  cells.length = 0;
  for (;;) {
    if (cells.length === width) throw new Fault("has more cells than the header");
    if (text.charCodeAt(at) === QUOTE) {
      let from = at + 1, value = "";
      for (;;) {
        const close = text.indexOf('"', from);
        if (close < 0 || close + 1 === text.length) return -1;
        value += text.slice(from, close);
        at = close + 1;
        if (text.charCodeAt(at) !== QUOTE) break;
        value += '"';
        from = at + 1;
      }
      cells.push(value);
    } else {
      let end = at, sign = text.charCodeAt(end);
      while (end < text.length && sign !== COMMA && sign !== LINE_FEED) {
        if (sign === QUOTE || sign === CARRIAGE_RETURN)
          throw new Fault("has a quotation mark or a line end in a cell without quotation marks");
        sign = text.charCodeAt(++end);
      }
      if (end === text.length) return -1;
      cells.push(end === at ? null : text.slice(at, end));
      at = end;
    }
    const sign = text.charCodeAt(at);
    if (sign === LINE_FEED) return at + 1;
    if (sign !== COMMA) throw new Fault("has something behind a closing quotation mark");
    at += 1;
  }
}

/** Hand every row of a file to a function, the header first.
 *
 * @param {string} name Of the file.
 * @param {Uint8Array} bytes
 * @param {number} width Cells of each row.
 * @param {(cells: (string | null)[], line: number) => void} take The cells are reused. */
function readCsv(name, bytes, width, take) {
  const decoder = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true});
  /** @type {(string | null)[]} */
  const cells = [];
  let rest = "", line = 1;
  try {
    for (let start = 0; start < bytes.length; start += CHUNK) {
      const more = start + CHUNK < bytes.length;
      const text = rest + decoder.decode(bytes.subarray(start, start + CHUNK), {stream: more});
      let at = 0;
      while (at < text.length) {
        const next = parseRow(text, at, cells, width);
        if (next < 0) break;
        if (cells.length < width) throw new Fault("has fewer cells than the header");
        take(cells, line++);
        at = next;
      }
      rest = text.slice(at);
      if (rest.length > LONGEST_ROW) throw new Fault("is too long, or does not end");
    }
    if (rest) throw new Fault("does not end");
    if (line === 1) throw new Fault("is missing");
  } catch (error) {
    if (error instanceof TypeError) throw new Fault(`${name} is not UTF-8 text`);
    if (error instanceof Fault) throw new Fault(`${name}, row ${line}: it ${error.message}`);
    throw error;
  }
}

/** The rows of one of the small files, without its header.
 *
 * @param {string} name
 * @param {Uint8Array} bytes
 * @param {string[]} header
 * @param {boolean} safe No cell is said to be a formula.
 * @returns {string[][]} */
function smallRows(name, bytes, header, safe) {
  /** @type {string[][]} */
  const rows = [];
  readCsv(name, bytes, header.length, (cells, line) => {
    const row = cells.map(cell => cell ?? "");
    if (line === 1 && row.some((cell, n) => cell !== header[n]))
      throw new Fault(`is not ${header.join(",")}`);
    if (safe && row.some(cell => UNSAFE.test(cell) && !NUMBER.test(cell)))
      throw new Fault("has a cell that a spreadsheet runs as a formula, though csv_safe is true");
    if (line > 1) rows.push(safe ? row.map(cell => MARKED.test(cell) ? cell.slice(1) : cell) : row);
  });
  return rows;
}

/** What every value of a type looks like in an artifact.
 * @param {string} type */
function patternOf(type) {
  if (type === "VARCHAR") return /[^]*/;
  const scale = Number(/^DECIMAL\(18, ([0-9]+)\)$/.exec(type)?.[1] ?? 0);
  const fraction = scale ? `[.][0-9]{${scale}}` : "";
  return new RegExp(`^(?!-0[.0]*$)-?(0|[1-9][0-9]{0,18})${fraction}$`);
}

/** Empty tables of every quarter, which rows are added to; the codes of ids are those of all tables.
 *
 * @param {Artifact} artifact
 * @param {number} place Of the table among those of the manifest. */
function emptyTables({parts, ids}, place) {
  /** @type {Map<string, Dictionary>} */
  const shared = new Map();
  return parts.map(part => {
    const table = part.tables[place];
    const columns = table.columns.map(column => {
      const dictionary = ids.get(column.role) ?? shared.get(column.name) ?? new Dictionary();
      shared.set(column.name, dictionary);
      const keyed = termKeyOf(part) > 0 && OF_TERMS.includes(column.role);
      return {...column, attribute: column.attribute ?? null, dictionary, keyed,
        codes: /** @type {number[]} */ ([])};
    });
    return {name: table.name, columns, rows: 0};
  });
}

/** Read one table of an artifact, the rows of each quarter apart.
 *
 * @param {Artifact} artifact
 * @param {number} place Of the table among those of the manifest.
 * @param {Uint8Array} bytes Of its file.
 * @returns {{tables: Rows[], faults: string[]}} */
function readTable(artifact, place, bytes) {
  const [first] = artifact.parts, {file} = first.tables[place];
  const stored = storedColumns(artifact, place), tables = emptyTables(artifact, place);
  const patterns = stored.map(column => patternOf(column.type));
  const period = artifact.several ? stored.findIndex(column => column.name === "quarter") : -1;
  const shift = stored.length - first.tables[place].columns.length;
  const byQuarter = new Map(artifact.parts.map((part, n) => [part.quarter, tables[n]]));
  let strays = 0, formulas = 0;
  readCsv(file, bytes, stored.length, (cells, line) => {
    if (line === 1) {
      const wrong = stored.findIndex((column, n) => cells[n] !== column.name);
      if (wrong >= 0) throw new Fault(`has ${printable(cells[wrong] ?? "nothing")} for `
        + `${stored[wrong].name}`);
      return;
    }
    const table = period < 0 ? tables[0] : byQuarter.get(cells[period] ?? "");
    let unsafe = false;
    for (let n = 0; n < stored.length; n++) {
      let cell = cells[n];
      if (cell === null) {
        if (table && n >= shift) table.columns[n - shift].codes.push(-1);
        continue;
      }
      if (first.csv_safe && stored[n].type === "VARCHAR") {
        unsafe ||= UNSAFE.test(cell) && !NUMBER.test(cell);
        if (MARKED.test(cell)) cell = cell.slice(1);
      }
      if (!table || n < shift) continue;
      const {codes, dictionary} = table.columns[n - shift], known = dictionary.values.length;
      const code = dictionary.code(cell);
      if (code === known && !patterns[n].test(cell))
        throw new Fault(`has ${printable(cell)} for ${stored[n].name}, which is no `
          + `${stored[n].type} as published`);
      codes.push(code);
    }
    if (table) table.rows += 1;
    strays += Number(!table);
    formulas += Number(unsafe);
  });
  const faults = [];
  if (strays) faults.push(`${file}: ${strays} row(s) are of no quarter that ${MANIFEST} names`);
  if (formulas) faults.push(`${file}: ${formulas} row(s) have a cell that a spreadsheet runs as a `
    + "formula, though csv_safe is true");
  return {tables, faults};
}

/** SHA-256 over the rows of a table in their order: every value as a netstring, a line feed a row.
 * @param {Rows} table */
function contentDigest(table) {
  const sha = new Sha256();
  let text = "";
  for (let row = 0; row < table.rows; row++) {
    for (const column of table.columns) text += column.dictionary.netstring(column.codes[row]);
    text += "\n";
    if (text.length > 2 ** 16) {
      sha.update(UTF8.encode(text));
      text = "";
    }
  }
  return sha.update(UTF8.encode(text)).hex();
}
