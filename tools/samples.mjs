/** Copies the sample logs for the page, with their titles, for users who have no conversation yet. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
/** Folders of samples, and where their agents keep logs in a home directory. */
const AGENTS = [
  ['codex', '.codex'],
  ['claude-code', '.claude'],
]
const OUT = join(ROOT, 'dist', 'web', 'samples')

const logs = AGENTS.flatMap(([agent]) =>
  readdirSync(join(ROOT, 'samples', agent), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
    .sort((a, b) => (a.name < b.name ? -1 : 1)),
)

rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT, { recursive: true })
const home = mkdtempSync(join(tmpdir(), 'fumi-samples-'))
let sessions = []
try {
  const program = join(ROOT, 'dist', 'bin', 'fumi.js')
  for (const [agent, place] of AGENTS) cpSync(join(ROOT, 'samples', agent), join(home, place), { recursive: true })
  for (const { parentPath, name } of logs) copyFileSync(join(parentPath, name), join(OUT, name))
  const listed = execFileSync(process.execPath, [program, 'list', '--json'], {
    env: { PATH: process.env.PATH, HOME: home, FUMI_HOME: join(home, 'fumi') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  sessions = JSON.parse(listed).sessions
} finally {
  rmSync(home, { recursive: true, force: true })
}

const list = logs.map(({ name }) => {
  const session = sessions.find(({ native_id }) => name.includes(native_id))
  return { file: name, session: session?.id ?? null, title: session?.title ?? session?.first_prompt ?? null }
})
// Sub-agents have no title of their own; they come with the session that started them.
writeFileSync(join(OUT, 'list.json'), JSON.stringify(list))
