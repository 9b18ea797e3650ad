/** Sessions as resources, for clients that let their user attach them. */
import type { ToolCallContext } from '../archive.ts'
import { ToolArguments } from '../arguments.ts'
import { MAX_BUDGET } from '../budget.ts'
import { citeTime } from '../citation.ts'
import { asDataLine } from '../foreign-text.ts'
import { excerptAround } from '../passage.ts'
import { resolveScope } from '../scope.ts'
import { ToolProblem } from '../tool-problem.ts'
import { listSessions } from '../tools/list.ts'
import { read } from '../tools/read.ts'
import { ProtocolError, RESOURCE_NOT_FOUND } from './message.ts'

const MAX_RESOURCES = 30
const SCHEME = 'fumi://session/'

export const RESOURCE_TEMPLATES: readonly object[] = [
  {
    uriTemplate: `${SCHEME}{agent}/{session}`,
    name: 'session',
    title: 'An earlier conversation',
    mimeType: 'text/plain',
  },
  {
    uriTemplate: `${SCHEME}{agent}/{session}/{turn}`,
    name: 'turn',
    title: 'A turn of an earlier conversation',
    mimeType: 'text/plain',
  },
]

/** The newest sessions of the caller's project. */
export async function listResources({ archive, caller }: ToolCallContext): Promise<readonly object[]> {
  await archive.refresh()
  const scope = await resolveScope(archive.app, caller, {})
  const rows = listSessions(archive, scope, 0).rows.slice(0, MAX_RESOURCES)
  const titles = await archive.redaction.redact(rows.map(({ title }) => title ?? ''))
  return rows.map((session, at) => {
    const { name } = archive.cite(session)
    const title = excerptAround(asDataLine(titles[at] ?? ''), [], 80).text
    return {
      uri: `${SCHEME}${name.split('/').map(encodeURIComponent).join('/')}`,
      name,
      description: `Recorded ${citeTime(session.last_at)}${title === '' ? '' : `, titled: ${title}`}`,
      mimeType: 'text/plain',
    }
  })
}

const URI = /^fumi:\/\/session\/([\w.%-]+)\/([\w.%~-]+)(?:\/(\d{1,6}))?$/

export async function readResource(context: ToolCallContext, uri: string): Promise<object> {
  const [, agent, session, turn] = URI.exec(uri) ?? []
  if (agent === undefined || session === undefined)
    throw new ProtocolError(RESOURCE_NOT_FOUND, `Resources have addresses such as ${SCHEME}codex/019c22d1.`)
  try {
    const name = `${decodeURIComponent(agent)}/${decodeURIComponent(session)}${turn === undefined ? '' : `#${turn}`}`
    const args = new ToolArguments({ session: name, budget: MAX_BUDGET }, ['session', 'budget'])
    return { uri, mimeType: 'text/plain', text: await read.run(context, args) }
  } catch (error) {
    if (error instanceof ToolProblem || error instanceof URIError)
      throw new ProtocolError(RESOURCE_NOT_FOUND, error.message)
    throw error
  }
}
