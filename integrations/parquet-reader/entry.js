export {readColumn} from "hyparquet/src/column.js";
export {DEFAULT_PARSERS} from "hyparquet/src/convert.js";
export {parquetMetadata, parquetSchema} from "hyparquet/src/metadata.js";
export {decompress} from "fzstd";
