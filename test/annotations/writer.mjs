/**
 * Annotates sessions one after another: `writer.mjs <data directory> <tag> <count>`. Prints `done <number>` after each.
 */
import { writeSync } from 'node:fs'
import { openAnnotations } from '../../dist/annotations/annotations.js'

const [, , directory, tag, count] = process.argv
const marks = openAnnotations(directory)
for (let number = 0; number < Number(count); number++) {
  marks.change(
    `codex:${number % 10}`,
    { tag: [`${tag}-${number}`], name: `${tag} ${number}` },
    '2026-02-03T09:00:00.000Z',
  )
  writeSync(1, `done ${number}\n`)
}
marks.close()
