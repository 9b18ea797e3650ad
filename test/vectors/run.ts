/** `npm run vectors -- <folder>`: runs every vector of a folder and prints how many pass. */

import { checkFolder } from './check.ts'

const folders = process.argv.slice(2)
if (folders.length === 0) {
  process.stderr.write('Which folder? npm run vectors -- <folder>\n')
  process.exit(2)
}
const checked = (await Promise.all(folders.map(checkFolder))).flat()
for (const { name, fault } of checked)
  if (fault !== undefined) process.stdout.write(`FAILED ${name}\n       ${fault}\n`)
const failed = checked.filter(({ fault }) => fault !== undefined).length
const complete = checked.filter(({ kind, fault }) => kind === 'state' && fault === undefined).length
const openChat = checked.filter(({ kind, fault }) => kind === 'vector' && fault === undefined).length
if (complete > 0) process.stdout.write(`${complete} full states come back byte for byte\n`)
process.stdout.write(`${openChat} passed, ${failed} failed\n`)
process.exitCode = failed > 0 || checked.length === 0 ? 1 : 0
