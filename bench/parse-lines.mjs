/** The default yardstick: reads every log below a folder and parses each line. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

let lines = 0
for (const entry of readdirSync(process.argv[2], { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith('.jsonl')) continue
  const text = readFileSync(join(entry.parentPath, entry.name), 'utf8')
  for (let from = 0; ; lines++) {
    const to = text.indexOf('\n', from)
    if (to < 0) break
    JSON.parse(text.slice(from, to))
    from = to + 1
  }
}
console.log(lines)
