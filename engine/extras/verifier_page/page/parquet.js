// The rows of a Parquet file, as tables of codes and texts: what `rows.js` makes of CSV files. The reader
// is foreign code, which stands before this where the page was written with it, and declares `parquetFiles`.

/** Rows that a Parquet file has here at most: a small file may hold very many equal ones. */
const MOST_ROWS = 2 ** 25;
const CODECS = ["UNCOMPRESSED", "SNAPPY", "ZSTD"];
const STRICT_UTF8 = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true});
/** @type {any} What reads the parts of a file; undefined in a page without a reader. */
const parquetReader = /** @type {any} */ (globalThis).parquetFiles;
const NO_PARQUET_READER = "the tables are Parquet files, which this page cannot read: ask the publisher for "
  + "the artifact as CSV (srsql publish --format csv), write the page with srsql verify --page FILE "
  + "--parquet-reader READER, or check the artifact with srsql verify";
const PARSERS = {...parquetReader?.DEFAULT_PARSERS,
  stringFromBytes: (/** @type {Uint8Array | null} */ bytes) => bytes && STRICT_UTF8.decode(bytes)};
const COMPRESSORS = {ZSTD: (/** @type {Uint8Array} */ input, /** @type {number} */ length) =>
  parquetReader.decompress(input, new Uint8Array(length))};

/** The type of an artifact's column that a column of a Parquet file has; empty: none.
 *
 * @param {any} element Of the schema of the file. */
function parquetType({type, converted_type: converted, scale}) {
  if (type === "INT64" && [undefined, "INT_64"].includes(converted)) return "BIGINT";
  if (type === "BYTE_ARRAY" && converted === "UTF8") return "VARCHAR";
  if (["INT32", "INT64"].includes(type) && converted === "DECIMAL") return `DECIMAL(18, ${scale ?? 0})`;
  return "";
}

/** A value as artifacts have it in text.
 *
 * @param {unknown} value
 * @param {number} scale Digits behind the point of a decimal; -1: it is no decimal. */
function cellText(value, scale) {
  if (scale <= 0) return String(value);
  const text = String(value), sign = text.startsWith("-") ? "-" : "";
  const digits = text.slice(sign.length).padStart(scale + 1, "0");
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** The columns of a file, which must be the declared ones and no other.
 *
 * @param {any} root Of its schema.
 * @param {Declared[]} stored
 * @returns {any[]} */
function parquetColumns(root, stored) {
  /** @type {any[]} */
  const columns = root.children;
  if (columns.length !== stored.length)
    throw new Fault(`has ${columns.length} columns, not ${stored.length}`);
  for (const [n, {element, children}] of columns.entries()) {
    const due = stored[n], found = parquetType(element);
    if (element.name !== due.name)
      throw new Fault(`has ${printable(element.name)} for ${due.name}`);
    if (children.length || element.repetition_type === "REPEATED" || found !== due.type)
      throw new Fault(`has ${printable(found || "another type")} for ${due.name}, which is ${due.type}`);
  }
  return columns;
}

/** The values of one column of one group of rows.
 *
 * @param {Uint8Array} bytes Of the file.
 * @param {any} group
 * @param {any} root
 * @param {any} column
 * @param {number} place Of the column.
 * @returns {unknown[]} Missing ones are undefined or null. */
function parquetValues(bytes, group, root, column, place) {
  const chunk = group.columns[place], {meta_data: about} = chunk ?? {}, rows = Number(group.num_rows);
  if (!about || chunk.file_path || about.path_in_schema.join("/") !== column.element.name)
    throw new Fault(`does not tell where ${column.element.name} is`);
  if (!CODECS.includes(about.codec)) throw new Fault(`is packed by ${printable(about.codec)}`);
  const offsets = [about.dictionary_page_offset, about.data_page_offset].filter(Boolean).map(Number);
  const start = Math.min(...offsets), end = start + Number(about.total_compressed_size);
  if (!(start >= 4 && end <= bytes.length)) throw new Fault("tells of bytes that it does not have");
  // numbers stay whole: what they count is told by the declared type
  const element = {...column.element, converted_type: undefined, logical_type: undefined};
  const reader = {view: new DataView(bytes.buffer, bytes.byteOffset + start, end - start), offset: 0};
  const {data} = parquetReader.readColumn(reader, {groupStart: 0, selectStart: 0, selectEnd: rows},
    {...about, element, pathInSchema: [element.name], schemaPath: [root, {...column, element}],
      compressors: COMPRESSORS, parsers: PARSERS});
  const values = data.flatMap((/** @type {ArrayLike<unknown>} */ part) => Array.from(part));
  if (values.length !== rows)
    throw new Fault(`has ${values.length} values of ${element.name} in ${rows} rows`);
  return values;
}

/** Read one table of an artifact from its Parquet file, the rows of each quarter apart.
 *
 * @param {Artifact} artifact
 * @param {number} place Of the table among those of the manifest.
 * @param {Uint8Array} bytes Of its file.
 * @returns {{tables: Rows[], faults: string[]}} */
function readParquet(artifact, place, bytes) {
  const {file} = artifact.parts[0].tables[place];
  try {
    return parquetTables(artifact, place, bytes);
  } catch (error) {
    const told = error instanceof Fault ? error.message
      : `cannot be read (${printable(error instanceof Error ? error.message : error)})`;
    throw new Fault(`${file}: it ${told}`);
  }
}

/** @param {Artifact} artifact
 * @param {number} place
 * @param {Uint8Array} bytes */
function parquetTables(artifact, place, bytes) {
  const stored = storedColumns(artifact, place), tables = emptyTables(artifact, place);
  const shift = stored.length - artifact.parts[0].tables[place].columns.length;
  const metadata = parquetReader.parquetMetadata(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), {geoparquet: false});
  /** @type {any[]} */
  const groups = metadata.row_groups;
  const rows = groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
  if (Number(metadata.num_rows) !== rows) throw new Fault("does not have as many rows as it says");
  if (rows > MOST_ROWS) throw new Fault(`has more than ${MOST_ROWS} rows, which is too much for this `
    + "page: check the folder with srsql verify");
  const root = parquetReader.parquetSchema(metadata), columns = parquetColumns(root, stored);
  const period = artifact.several ? stored.findIndex(column => column.name === "quarter") : -1;
  const byQuarter = new Map(artifact.parts.map((part, n) => [part.quarter, n]));
  /** @type {number[]} */
  const owners = [];
  if (period >= 0)
    for (const group of groups)
      for (const value of parquetValues(bytes, group, root, columns[period], period))
        owners.push(byQuarter.get(/** @type {string} */ (value)) ?? -1);
  for (const [n, {name, type}] of stored.entries()) {
    if (n < shift) continue;
    const pattern = patternOf(type), scale = Number(/, ([0-9]+)\)$/.exec(type)?.[1] ?? -1);
    let row = 0;
    for (const group of groups)
      for (const value of parquetValues(bytes, group, root, columns[n], n)) {
        const table = tables[period < 0 ? 0 : owners[row]];
        row += 1;
        if (!table) continue;
        const {codes, dictionary} = table.columns[n - shift], known = dictionary.values.length;
        if (value === null || value === undefined) {
          codes.push(-1);
          continue;
        }
        const cell = cellText(value, scale), code = dictionary.code(cell);
        if (code === known && !pattern.test(cell))
          throw new Fault(`has ${printable(cell)} for ${name}, which is no ${type} as published`);
        codes.push(code);
      }
  }
  for (const [n, table] of tables.entries())
    table.rows = period < 0 ? rows : owners.reduce((sum, owner) => sum + Number(owner === n), 0);
  const strays = owners.filter(owner => owner < 0).length;
  return {tables, faults: strays ? [`${artifact.parts[0].tables[place].file}: ${strays} row(s) are of no `
    + `quarter that ${MANIFEST} names`] : []};
}
