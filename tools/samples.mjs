/** Exports the sample conversations for the page, for users who have no conversation yet. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const LOGS = join(ROOT, 'samples', 'codex', 'sessions')
const OUT = join(ROOT, 'dist', 'web', 'samples')

const logs = readdirSync(LOGS, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
  .map((entry) => join(entry.parentPath, entry.name))
  .sort()

rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT, { recursive: true })
const home = mkdtempSync(join(tmpdir(), 'fumi-samples-'))
try {
  const program = join(ROOT, 'dist', 'bin', 'fumi.js')
  execFileSync(process.execPath, [program, 'export', ...logs, '--format', 'html', '--no-redact', '-o', OUT], {
    env: { ...process.env, FUMI_HOME: home },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
} finally {
  rmSync(home, { recursive: true, force: true })
}

const PLAIN = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }
const list = readdirSync(OUT).map((file) => {
  // Exports are private by default; samples are public.
  chmodSync(join(OUT, file), 0o644)
  const [, title = file] = /<title>([^<]*)<\/title>/.exec(readFileSync(join(OUT, file), 'utf8')) ?? []
  return { file, title: title.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (one) => PLAIN[one]) }
})
writeFileSync(join(OUT, 'list.json'), JSON.stringify(list))
