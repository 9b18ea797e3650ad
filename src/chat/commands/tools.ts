/** `/tools`: the tools and their permissions; `!command`: a shell command of the user. */
import { NATIVE_TOOLS, originLabel } from '../../conversation/limits.ts'
import { writeBlock } from '../../conversation/message-text.ts'
import { plainJson } from '../../lib/json/lossless.ts'
import { composePhrase, type Phrase, type PickWording, phrase, untranslated } from '../../model/phrase.ts'
import { errorEvent, errorText } from '../events.ts'
import { sandboxLabel } from '../processes/sandbox.ts'
import type { ChatSession } from '../session.ts'
import { findTools, isSameTool, matchesTool, toolLabel } from '../tools/permission/permission.ts'
import type { ChatTool } from '../tools/tool.ts'
import type { OmittedTool } from '../tools/tool-set.ts'
import { type ChatCommandDefinition, outputEvent, outputText, usageError } from './command.ts'

export const toolsCommand: ChatCommandDefinition = {
  name: 'tools',
  args: '[schema | trust <name>... | untrust <name>... | trust-all | reset]',
  help: phrase('list tools, and trust or untrust them', 'ツールの一覧と、確認なしの実行の許可'),
  words: ['schema', 'trust', 'untrust', 'trust-all', 'reset'],
  async *run({ setup }, words) {
    const names = words.rest.plain
    switch (words.first) {
      case '':
        return yield outputEvent(formatTools(setup))
      case 'schema': {
        const specs = setup.toolSet.all.map(({ name, description, schema }) => ({
          name,
          description,
          schema: plainJson(schema),
        }))
        yield outputEvent(untranslated(JSON.stringify(specs, null, 2)))
        return
      }
      case 'trust':
      case 'untrust': {
        const unknown = names.filter((name) => findTools(name, setup.toolSet.all).length === 0)
        if (names.length === 0 || unknown.length > 0) return yield errorEvent(unknownTool(unknown.join(', ')))
        for (const name of names) {
          const tools = findTools(name, setup.toolSet.all)
          if (words.first === 'trust') for (const tool of tools) setup.trust(tool)
          else setup.untrust(name, tools)
        }
        yield outputEvent(formatTools(setup))
        return
      }
      case 'trust-all':
        setup.trustAll(true)
        yield outputText(
          'All tools now run without asking, except those that the agent denies.',
          'エージェントが禁じるものを除き、すべてのツールを確認なしに実行します。',
        )
        return
      case 'reset':
        setup.trustAll(false)
        yield outputEvent(formatTools(setup))
        return
      default:
        yield usageError(toolsCommand)
    }
  },
}

const unknownTool = (names: string): Phrase =>
  names === ''
    ? phrase('Specify a tool. Type /tools for a list.', 'ツールの名前を指定してください。/tools で一覧を見られます。')
    : phrase(
        `Unknown tool ${names}. Type /tools for a list.`,
        `ツール ${names} はありません。/tools で一覧を見られます。`,
      )

function formatTools(setup: ChatSession['setup']): Phrase {
  const { all, omitted } = setup.toolSet
  const { en, ja } = sandboxLabel(setup.sandboxing)
  const origins = [...new Set(all.map(({ origin }) => origin))]
  return composePhrase((say) => {
    const lines = origins.flatMap((origin) => [
      origin === NATIVE_TOOLS ? say(originLabel(origin), '組み込み') : originLabel(origin),
      ...all.filter((tool) => tool.origin === origin).map((tool) => formatTool(tool, setup, say)),
    ])
    const none = say('No tools.', 'ツールはありません。')
    const sandbox = all.some(({ hostName }) => /^execute_(?:bash|cmd)$/.test(hostName))
      ? [say(`Commands: ${en}`, `コマンド：${ja}`)]
      : []
    const listed = lines.length === 0 ? [none] : lines
    return [...listed, ...omitted.map((one) => formatOmittedTool(one, say)), ...sandbox].join('\n')
  })
}

function formatTool(tool: ChatTool, { trusted }: ChatSession['setup'], say: PickWording): string {
  const isTrusted =
    trusted.all ||
    trusted.patterns.some((pattern) => matchesTool(pattern, tool)) ||
    trusted.tools.some((one) => isSameTool(one, tool))
  const alias = tool.name === tool.hostName ? '' : say(` (as ${tool.name})`, `（${tool.name} として）`)
  const permission = isTrusted
    ? say('trusted', '確認なし')
    : tool.onlyReads
      ? say('asks outside this directory', 'このディレクトリーの外では確認')
      : say('asks', '確認あり')
  return `  ${toolLabel(tool)}${alias}  ${permission}`
}

export const formatOmittedTool = ({ label, reason: { en, ja } }: OmittedTool, say: PickWording): string =>
  `  ${label}  ${say(`not available: ${en}`, `使えません：${ja}`)}`

/** Typed by the user, so it runs without a question, and the model does not see it. */
export const shellCommand: Pick<ChatCommandDefinition, 'run'> = {
  async *run({ setup }, words, signal) {
    if (words.text === '')
      return yield errorText('Type a shell command after !.', '! の後にシェルのコマンドを書いてください。')
    const checked = await setup.shell?.check({ command: words.text }, setup.workspace)
    if (!checked?.ok)
      return yield errorEvent(
        checked
          ? untranslated(checked.error)
          : phrase('Shell commands are not available here.', 'ここではシェルを使えません。'),
      )
    const ran = await checked.call.run({ ...setup.workspace, signal })
    for (const block of ran.content) yield outputEvent(untranslated(formatShellResult(block)))
  },
}

function formatShellResult(block: Parameters<typeof writeBlock>[0]): string {
  const value = 'Json' in block ? (plainJson(block.Json) as { readonly [key: string]: unknown } | null) : null
  if (value === null || typeof value !== 'object') return writeBlock(block, () => {}) ?? ''
  const { exit_status, stdout, stderr } = value
  const failed = exit_status === '0' ? '' : `(exit ${exit_status})\n`
  return `${stdout ?? ''}${stderr ?? ''}${failed}`
}
