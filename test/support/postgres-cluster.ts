/** One PostgreSQL cluster for all tests of a run: the first test that needs it starts it, the end of the run stops it. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'fumi-postgres-'))
  process.env['FUMI_TEST_POSTGRES'] = folder
  return () => {
    const started = join(folder, 'started.json')
    if (existsSync(started)) {
      const { pid } = JSON.parse(readFileSync(started, 'utf8')) as { pid: number }
      try {
        // Immediately: nobody needs its data.
        process.kill(pid, 'SIGQUIT')
      } catch {
        // Ended by itself.
      }
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}
