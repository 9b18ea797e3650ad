/** The yardstick of files that are one JSON document: parses it. */
import { readFileSync } from 'node:fs'

console.log(Object.keys(JSON.parse(readFileSync(process.argv[2], 'utf8'))).length)
