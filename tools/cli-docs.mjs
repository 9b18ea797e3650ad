/** Writes what the program says of itself into docs/cli.md, and docs/cli.ja.md. `npm run cli-docs` builds before, where needed. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliPages } from './cli-markdown.mjs'

const root = join(import.meta.dirname, '..')

for (const [path, text] of Object.entries(cliPages(root))) writeFileSync(join(root, path), text)
