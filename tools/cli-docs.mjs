/** Updates docs/cli.md and docs/cli.ja.md from the help. `npm run cli-docs` builds the program first if needed. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliPages } from './cli-markdown.mjs'

const root = join(import.meta.dirname, '..')

for (const [path, text] of Object.entries(cliPages(root))) writeFileSync(join(root, path), text)
