/** The sessions that were named, read as far as an export must know them before it begins. */
import type { App } from '../../app.ts'
import type { ExportInput } from '../../convert/export/material.ts'
import { OutlineCollector } from '../../convert/export/outline.ts'
import type { Privacy } from '../../convert/export/privacy.ts'
import type { AgentId } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'
import { type ChosenLog, noSessionError } from '../choose.ts'
import { readOverview, readSessionMessages } from '../logs/survey.ts'

export interface PreparedExport {
  readonly material: ExportInput
  readonly issues: readonly Issue[]
}

/** Reads the session once; its messages are read again while it is written, and for what must be taken out of them. */
export async function prepareExport(app: App, { log, id }: ChosenLog, privacy?: Privacy): Promise<PreparedExport> {
  const collector = new OutlineCollector()
  const overview = await readOverview(log, id, (message) => collector.add(message))
  if (!overview.session) throw noSessionError(log.source.path)
  const annotation = app.annotations.get(id)
  const input: ExportInput = {
    session: overview.session,
    agent: agentNameIn(log.agent.label, overview.session.agent),
    ...(annotation && {
      mark: { name: annotation.name, starred: annotation.starred, tags: annotation.tags, note: annotation.note },
    }),
    outline: collector.outline(overview.links),
    messages: readSessionMessages(log, overview),
  }
  const privateInput = privacy ? await privacy.apply(input, () => readSessionMessages(log, overview)) : input
  return { material: privateInput, issues: overview.issues }
}

/** An agent's label may name several, and more than the name: `Amazon Q and Kiro`. */
function agentNameIn(label: string, id: AgentId): string {
  const at = label.toLowerCase().indexOf(id.replaceAll('-', ' '))
  return at < 0 ? id : label.slice(at, at + id.length)
}
