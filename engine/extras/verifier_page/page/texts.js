// The check of texts: what one value of one record would not hold.

const BREAK = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
/** A word is a run of letters and digits that no other letter or digit touches. */
const WORDS = /[\p{L}\p{N}]+/gu, ONE_WORD = /^[^\p{L}\p{N}]*([\p{L}\p{N}]{6,})[^\p{L}\p{N}]*$/u;
/** Characters of a text at most, where the manifest tells no other number. */
const LONGEST = 500, LONGEST_TERM = 1000;
/** Roles of columns in which no id is searched. */
const NOT_SEARCHED = ["report id", "case id", "period", "node", "serial number", "stratum", "cut",
  "counted column", "noisy cases", "noise"];

/** The ids that the rows of a quarter show, those of one word that has 6 signs or more.
 *
 * @param {Rows[]} tables
 * @returns {Set<string>} In upper case. */
function idWords(tables) {
  const found = /** @type {Set<string>} */ (new Set());
  for (const table of tables)
    for (const column of table.columns)
      if (["report id", "case id"].includes(column.role))
        for (const code of new Set(column.codes)) {
          const word = code < 0 ? null : ONE_WORD.exec(column.dictionary.values[code].toUpperCase());
          if (word) found.add(word[1]);
        }
  return found;
}

/** The words of texts that are ids as well and are none there, as the publisher says; of ids that are
 * pseudonyms no text holds one by chance.
 *
 * @param {Manifest} part */
function acceptedWords({parameters: {ids, not_ids: told}}) {
  return told === undefined || ![undefined, "original"].includes(/** @type {any} */ (ids)) ? []
    : String(told).split(",").map(word => word.trim().toUpperCase());
}

/** The check of the texts of one quarter.
 *
 * @param {Manifest} part
 * @param {Rows[]} tables */
function checkTexts(part, tables) {
  const check = new Check("texts", 0), ids = idWords(tables);
  for (const word of acceptedWords(part)) ids.delete(word);
  for (const table of tables)
    for (const column of table.columns) {
      if (column.type !== "VARCHAR") continue;
      const most = column.max_length ?? (column.role === "term" ? LONGEST_TERM : LONGEST);
      const codes = new Set(column.codes), held = /** @type {Map<number, string[]>} */ (new Map());
      let breaks = 0, longer = 0;
      codes.delete(-1);
      check.total += codes.size;
      for (const code of codes) {
        const value = column.dictionary.values[code];
        breaks += Number(BREAK.test(value));
        longer += Number(value.length > most && [...value].length > most);
        if (NOT_SEARCHED.includes(column.role)) continue;
        const words = (value.toUpperCase().match(WORDS) ?? []).filter(word => ids.has(word));
        if (words.length) held.set(code, words);
      }
      const where = `${table.name}.${column.name}`, others = ofOthers(table, column, held);
      if (breaks) check.add(() => `${where}: ${breaks} text(s) with a line end or another control `
        + "character");
      if (longer) check.add(() => `${where}: ${longer} text(s) of more than ${most} characters`);
      if (others) check.add(() => `${where}: ${others} text(s) with the id of another report or case`);
    }
  return check;
}

/** How many texts with ids stand in some row that does not have that id itself.
 *
 * @param {Rows} table
 * @param {Column} column
 * @param {Map<number, string[]>} held Code of a text -> the ids in it. */
function ofOthers(table, column, held) {
  const found = new Set();
  const own = table.columns.filter(each => ["report id", "case id"].includes(each.role));
  for (let row = 0; held.size && row < table.rows; row++) {
    const words = held.get(column.codes[row]);
    if (!words || found.has(column.codes[row])) continue;
    const ids = own.map(each => ONE_WORD.exec((valueAt(each, row) ?? "").toUpperCase())?.[1]);
    if (words.some(word => !ids.includes(word))) found.add(column.codes[row]);
  }
  return found.size;
}
