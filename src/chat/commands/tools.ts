/** `/tools`, and `!command`: what can be run, and who may. */
import { NATIVE_TOOLS } from '../../conversation/limits.ts'
import { originLabel } from '../../conversation/request/tools.ts'
import { writeBlock } from '../../conversation/truncate.ts'
import { plainJson } from '../../lib/json/lossless.ts'
import { asIs, type Phrase, phrase, phrased, type Say } from '../../model/phrase.ts'
import { sandboxLabel } from '../processes/sandbox.ts'
import type { Talk } from '../talk.ts'
import { isSameTool, namesTool, toolLabel, toolsMeant } from '../tools/allow/patterns.ts'
import type { LeftOut } from '../tools/box.ts'
import type { ChatTool } from '../tools/tool.ts'
import { error } from '../turn/event.ts'
import { type Command, output, usage } from './command.ts'

export const toolsCommand: Command = {
  name: 'tools',
  args: '[schema | trust <name>... | untrust <name>... | trust-all | reset]',
  help: phrase('the tools, and which of them run without asking', 'ツールの一覧と、確認なしに動くもの'),
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
        yield output(asIs(JSON.stringify(specs, null, 2)))
        return
      }
      case 'trust':
      case 'untrust': {
        const unknown = names.filter((name) => toolsMeant(name, rig.box.all).length === 0)
        if (names.length === 0 || unknown.length > 0) return yield error(noTool(unknown.join(', ')))
        for (const name of names) {
          const tools = toolsMeant(name, rig.box.all)
          if (words.first === 'trust') for (const tool of tools) rig.trust(tool)
          else rig.untrust(name, tools)
        }
        yield output(listOf(rig))
        return
      }
      case 'trust-all':
        rig.trustAll(true)
        yield output(
          phrase(
            'All tools run without asking now. What the agent denies stays denied.',
            'これからはすべてのツールを確認なしに実行します。エージェントが拒むものは拒んだままです。',
          ),
        )
        return
      case 'reset':
        rig.trustAll(false)
        yield output(listOf(rig))
        return
      default:
        yield usage(toolsCommand)
    }
  },
}

const noTool = (names: string): Phrase =>
  names === ''
    ? phrase(
        'there is no tool without a name; /tools lists them.',
        'ツールの名前を指定してください。/tools で一覧を見られます。',
      )
    : phrase(
        `there is no tool ${names}; /tools lists them.`,
        `ツール ${names} はありません。/tools で一覧を見られます。`,
      )

function listOf(rig: Talk['rig']): Phrase {
  const { all, leftOut } = rig.box
  const { en, ja } = sandboxLabel(rig.sandboxing)
  const origins = [...new Set(all.map(({ origin }) => origin))]
  return phrased((say) => {
    const lines = origins.flatMap((origin) => [
      origin === NATIVE_TOOLS ? say(originLabel(origin), '組み込み') : originLabel(origin),
      ...all.filter((tool) => tool.origin === origin).map((tool) => toolLine(tool, rig, say)),
    ])
    const none = say('There are no tools.', 'ツールはありません。')
    const sandbox = all.some(({ hostName }) => /^execute_(?:bash|cmd)$/.test(hostName))
      ? [say(`Commands: ${en}`, `コマンド：${ja}`)]
      : []
    const listed = lines.length === 0 ? [none] : lines
    return [...listed, ...leftOut.map((one) => leftOutLine(one, say)), ...sandbox].join('\n')
  })
}

function toolLine(tool: ChatTool, { trusted }: Talk['rig'], say: Say): string {
  const isTrusted =
    trusted.all ||
    trusted.patterns.some((pattern) => namesTool(pattern, tool)) ||
    trusted.tools.some((one) => isSameTool(one, tool))
  const alias = tool.name === tool.hostName ? '' : say(` (as ${tool.name})`, `（${tool.name} として）`)
  const how = isTrusted
    ? say('trusted', '確認なし')
    : tool.onlyReads
      ? say('asks outside of this directory', 'このディレクトリーの外では確認')
      : say('asks', '確認あり')
  return `  ${toolLabel(tool)}${alias}  ${how}`
}

export const leftOutLine = ({ label, reason: { en, ja } }: LeftOut, say: Say): string =>
  `  ${label}  ${say(`not offered: ${en}`, `使えません：${ja}`)}`

/** Whoever types it wants it: nobody is asked, and the model does not hear of it. */
export const shellCommand: Pick<Command, 'run'> = {
  async *run({ rig }, words, signal) {
    if (words.text === '')
      return yield error(phrase('! takes a command for the shell.', '! の後にシェルのコマンドを書いてください。'))
    const checked = await rig.shell?.check({ command: words.text }, rig.place)
    if (!checked?.ok)
      return yield error(
        checked ? asIs(checked.error) : phrase('there is no shell here.', 'ここではシェルを使えません。'),
      )
    const ran = await checked.call.run({ ...rig.place, signal })
    for (const block of ran.content) yield output(asIs(shellText(block)))
  },
}

function shellText(block: Parameters<typeof writeBlock>[0]): string {
  const value = 'Json' in block ? (plainJson(block.Json) as { readonly [key: string]: unknown } | null) : null
  if (value === null || typeof value !== 'object') return writeBlock(block, () => {}) ?? ''
  const { exit_status, stdout, stderr } = value
  const failed = exit_status === '0' ? '' : `(exit ${exit_status})\n`
  return `${stdout ?? ''}${stderr ?? ''}${failed}`
}
