/** The sessions that were named, read as far as an export must know them before it begins. */
import type { House } from '../../app.ts'
import type { Material } from '../../convert/export/material.ts'
import { Outliner } from '../../convert/export/outline.ts'
import type { Privacy } from '../../convert/export/privacy.ts'
import type { AgentId } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'
import { type Found, nothingIn } from '../choose.ts'
import { messagesOf, survey } from '../logs/survey.ts'

export interface Prepared {
  readonly material: Material
  readonly issues: readonly Issue[]
}

/** Reads the session once; its messages are read again while it is written, and for what must be taken out of them. */
export async function prepared(house: House, { log, id }: Found, privacy?: Privacy): Promise<Prepared> {
  const outliner = new Outliner()
  const seen = await survey(log, id, (message) => outliner.see(message))
  if (!seen.session) throw nothingIn(log.source.path)
  const mark = house.marks.get(id)
  const material: Material = {
    session: seen.session,
    agent: nameIn(log.agent.label, seen.session.agent),
    ...(mark && { mark: { name: mark.name, starred: mark.starred, tags: mark.tags, note: mark.note } }),
    outline: outliner.outline(seen.links),
    messages: messagesOf(log, seen),
  }
  const taken = privacy ? await privacy.taken(material, () => messagesOf(log, seen)) : material
  return { material: taken, issues: seen.issues }
}

/** An agent's label may name several, and more than the name: `Amazon Q and Kiro`. */
function nameIn(label: string, id: AgentId): string {
  const at = label.toLowerCase().indexOf(id.replaceAll('-', ' '))
  return at < 0 ? id : label.slice(at, at + id.length)
}
