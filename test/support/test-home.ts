/** Apps for tests, with temporary home and data directories. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { App, type AppOptions } from '../../src/app.ts'
import { tempFolder } from './codex-log.ts'

export interface TestHome {
  readonly folder: string
  readonly app: App
  /** Writes a file below the home folder. */
  write(path: string, content: string | Uint8Array): string
}

export function testHome(options: AppOptions = {}, folder = tempFolder(), data = join(folder, 'fumi')): TestHome {
  const variables = { FUMI_HOME: data, XDG_DATA_HOME: join(folder, 'data') }
  const application = new App({ platform: 'linux', home: folder, variables }, { threads: 0, ...options })
  return {
    folder,
    app: application,
    write(path, content) {
      const full = join(folder, path)
      mkdirSync(dirname(full), { recursive: true })
      writeFileSync(full, content)
      return full
    },
  }
}

export const rollout = (name: string, folder = 'sessions/2026/02/03'): string =>
  `.codex/${folder}/rollout-2026-02-03T09-15-00-${name}.jsonl`
