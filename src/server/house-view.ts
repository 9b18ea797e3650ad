/** What routes need beside the house: where changes are told, who keeps the index up to date, and what was read already. */
import { join } from 'node:path'
import type { Entry, House } from '../app.ts'
import { statOf } from '../lib/files/look.ts'
import type { IndexMeta } from '../model/api/session.ts'
import type { SessionId } from '../model/ids.ts'
import { phrase } from '../model/phrase.ts'
import type { Attendant } from './live/attendant.ts'
import type { Hub } from './live/hub.ts'
import { ApiProblem } from './problem.ts'
import { Layouts } from './view/session/layouts.ts'
import { Outlines } from './view/session/outlines.ts'
import { Prompts } from './view/session/prompts.ts'

export class HouseView {
  readonly house: House
  readonly hub: Hub
  readonly attendant: Attendant
  readonly outlines: Outlines
  readonly layouts: Layouts
  readonly prompts: Prompts
  readonly version: string

  constructor(house: House, hub: Hub, attendant: Attendant, version: string) {
    this.house = house
    this.hub = hub
    this.attendant = attendant
    this.version = version
    this.outlines = new Outlines(house)
    this.layouts = new Layouts(house)
    this.prompts = new Prompts(house)
  }

  /** The session of an address. */
  session(id: string): Entry {
    const entry = this.house.session(id as SessionId)
    if (!entry)
      throw new ApiProblem('session_not_found', phrase(`There is no session ${id}.`, `会話 ${id} はありません。`))
    return entry
  }

  index(): IndexMeta {
    const { index, directory } = this.house
    const { sessions, bytes, unread } = index.extent()
    return {
      epoch: index.epoch ?? null,
      revision: index.revision,
      sessions,
      source_bytes: bytes,
      index_bytes: ['index.sqlite3', 'index.sqlite3-wal'].reduce((sum, name) => sum + sizeOf(join(directory, name)), 0),
      unread,
    }
  }
}

const sizeOf = (path: string): number => statOf(path)?.size ?? 0
