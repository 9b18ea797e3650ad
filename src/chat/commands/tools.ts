/** `/tools`, and `!command`: what can be run, and who may. */
import { originLabel } from '../../conversation/request/tools.ts'
import { writeBlock } from '../../conversation/truncate.ts'
import { plainJson } from '../../lib/json/lossless.ts'
import type { Talk } from '../talk.ts'
import { namesTool, toolLabel } from '../tools/allow/patterns.ts'
import { type Command, error, output } from './command.ts'

export const toolsCommand: Command = {
  name: 'tools',
  args: '[schema | trust <name>... | untrust <name>... | trust-all | reset]',
  help: 'the tools, and which of them run without asking',
  words: ['schema', 'trust', 'untrust', 'trust-all', 'reset'],
  async *run({ rig }, words) {
    const names = words.rest.plain
    switch (words.first) {
      case '':
        yield output(listOf(rig))
        return
      case 'schema': {
        const specs = rig.box.all.map(({ name, description, schema }) => ({
          name,
          description,
          schema: plainJson(schema),
        }))
        yield output(JSON.stringify(specs, null, 2))
        return
      }
      case 'trust':
      case 'untrust': {
        const unknown = names.filter((name) => !rig.box.all.some((tool) => namesTool(name, tool)))
        if (names.length === 0 || unknown.length > 0)
          return yield error(`there is no tool ${unknown.join(', ') || 'without a name'}; /tools lists them.`)
        for (const name of names) words.first === 'trust' ? rig.trustPattern(name) : rig.untrust(name)
        yield output(listOf(rig))
        return
      }
      case 'trust-all':
        rig.trustAll(true)
        yield output('All tools run without asking now. What the agent denies stays denied.')
        return
      case 'reset':
        rig.trustAll(false)
        yield output(listOf(rig))
        return
      default:
        yield error(`/tools ${toolsCommand.args}`)
    }
  },
}

function listOf({ box, trusted }: Talk['rig']): string {
  const origins = [...new Set(box.all.map(({ origin }) => origin))]
  const lines = origins.flatMap((origin) => [
    originLabel(origin),
    ...box.all
      .filter((tool) => tool.origin === origin)
      .map((tool) => {
        const isTrusted = trusted.all || trusted.patterns.some((pattern) => namesTool(pattern, tool))
        const alias = tool.name === tool.hostName ? '' : ` (as ${tool.name})`
        return `  ${toolLabel(tool)}${alias}  ${isTrusted ? 'trusted' : tool.onlyReads ? 'asks outside of this directory' : 'asks'}`
      }),
  ])
  const left = box.leftOut.map(({ label, reason }) => `  ${label}  not offered: ${reason}`)
  return [...(lines.length === 0 ? ['There are no tools.'] : lines), ...left].join('\n')
}

/** Whoever types it wants it: nobody is asked, and the model does not hear of it. */
export const shellCommand: Pick<Command, 'run'> = {
  async *run({ rig }, words, signal) {
    if (words.text === '') return yield error('! takes a command for the shell.')
    const checked = await rig.shell?.check({ command: words.text }, rig.place)
    if (!checked?.ok) return yield error(checked ? checked.error : 'there is no shell here.')
    const ran = await checked.call.run({ ...rig.place, signal })
    for (const block of ran.content) yield output(shellText(block))
  },
}

function shellText(block: Parameters<typeof writeBlock>[0]): string {
  const value = 'Json' in block ? (plainJson(block.Json) as { readonly [key: string]: unknown } | null) : null
  if (value === null || typeof value !== 'object') return writeBlock(block, () => {}) ?? ''
  const { exit_status, stdout, stderr } = value
  const failed = exit_status === '0' ? '' : `(exit ${exit_status})\n`
  return `${stdout ?? ''}${stderr ?? ''}${failed}`
}
