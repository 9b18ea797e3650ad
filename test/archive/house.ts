/** Houses of their own for tests: a home folder, a data directory, and nothing else of this machine. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { House, type HouseOptions } from '../../src/app.ts'
import { tempFolder } from '../support/log.ts'

export interface Home {
  readonly folder: string
  readonly house: House
  /** Writes a file below the home folder. */
  write(path: string, content: string | Uint8Array): string
}

export function home(options: HouseOptions = {}, folder = tempFolder(), data = join(folder, 'fumi')): Home {
  const variables = { FUMI_HOME: data, XDG_DATA_HOME: join(folder, 'data') }
  const house = new House({ platform: 'linux', home: folder, variables }, { threads: 0, ...options })
  return {
    folder,
    house,
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
