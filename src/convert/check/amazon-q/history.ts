/** The order of a history: prompts, tool uses and their results. */
import type { AssistantMessage, AssistantToolUse, UserMessage } from '../../../conversation/message.ts'
import type { History } from '../../../conversation/record.ts'
import { toolUseResultsOf } from '../../../conversation/render.ts'
import { isJsonObject } from '../../../lib/json/lossless.ts'
import { phrase } from '../../../model/phrase.ts'
import { checkUserMessage } from './message.ts'
import type { AmazonQReport } from './rules.ts'
import { isListedTool, isToolName, TOOL_NAME_MESSAGE } from './tools.ts'

export interface HistoryLocation {
  readonly path: string
  readonly nextPath: string
  /** The names of the tools that the conversation lists, where it lists any. */
  readonly listed: ReadonlySet<string> | undefined
}

export function checkHistory(
  history: History,
  next: UserMessage | null,
  { path, nextPath, listed }: HistoryLocation,
  report: AmazonQReport,
): void {
  const ids = new Set<string>()
  const unlisted = new Set<string>()
  let before: AssistantMessage | undefined
  let at = 0
  for (const { user, assistant } of history) {
    const place = `${path}[${at}]`
    checkUserMessage(user, `${place}.user`, report)
    checkPosition(user, before, at === 0, `${place}.user.content`, report)
    toolUsesIn(assistant).forEach((use, number) => {
      const here = `${place}.assistant.ToolUse.tool_uses[${number}]`
      checkToolUse(use, ids, here, report)
      if (!listed || unlisted.has(use.name) || isListedTool(use.name, use.orig_name, listed)) return
      unlisted.add(use.name)
      report(
        'tool_listed',
        `${here}.name`,
        phrase(
          'No listed tool has this name; its uses are sent as `dummy`.',
          'この名前のツールは一覧にありません。呼び出しは `dummy` として送られます。',
        ),
      )
    })
    before = assistant
    at++
  }
  if (!next) return
  checkUserMessage(next, nextPath, report)
  checkPosition(next, before, at === 0, `${nextPath}.content`, report)
}

const toolUsesIn = (assistant: AssistantMessage): readonly AssistantToolUse[] =>
  'ToolUse' in assistant ? assistant.ToolUse.tool_uses : []

function checkToolUse(
  { id, name, args }: AssistantToolUse,
  ids: Set<string>,
  place: string,
  report: AmazonQReport,
): void {
  if (id === '')
    report('use_id', `${place}.id`, phrase('A tool use has no id.', 'ツールの呼び出しに ID がありません。'))
  else if (ids.has(id))
    report(
      'use_id_unique',
      `${place}.id`,
      phrase('An earlier tool use has the same id.', '前の呼び出しに同じ ID があります。'),
    )
  ids.add(id)
  if (!isToolName(name)) report('tool_name', `${place}.name`, TOOL_NAME_MESSAGE)
  if (!isJsonObject(args))
    report(
      'arguments_object',
      `${place}.args`,
      phrase('The arguments are no object.', '引数がオブジェクトではありません。'),
    )
}

/** @param before the answer that the message follows */
function checkPosition(
  user: UserMessage,
  before: AssistantMessage | undefined,
  isFirst: boolean,
  place: string,
  report: AmazonQReport,
): void {
  const results = toolUseResultsOf(user)
  const uses = before && 'ToolUse' in before ? before.ToolUse.tool_uses : undefined
  if (!results) {
    if (uses && uses.length > 0)
      report(
        'uses_answered',
        place,
        phrase(
          'The message before it uses tools, and it holds no results.',
          '直前のメッセージがツールを呼び出していますが、結果がありません。',
        ),
      )
    return
  }
  if (isFirst)
    report(
      'first_prompt',
      place,
      phrase(
        'The first message holds results of tools; they become a prompt.',
        '最初のメッセージがツールの結果です。依頼として扱われます。',
      ),
    )
  else if (!uses)
    report(
      'results_position',
      place,
      phrase(
        'It holds results of tools, and the message before it uses none.',
        'ツールの結果がありますが、直前のメッセージはツールを呼び出していません。',
      ),
    )
  else checkMatch(uses, results, place, report)
}

function checkMatch(
  uses: readonly AssistantToolUse[],
  results: readonly { readonly tool_use_id: string }[],
  place: string,
  report: AmazonQReport,
): void {
  const open = new Set(uses.map(({ id }) => id))
  if (open.size < uses.length)
    report(
      'results_match',
      place,
      phrase('Two of the tool uses before it have one id.', '直前の呼び出しのうち 2 つが同じ ID です。'),
    )
  let unmatched = 0
  for (const { tool_use_id } of results) if (!open.delete(tool_use_id)) unmatched++
  if (unmatched > 0)
    report(
      'results_match',
      place,
      phrase(
        `${unmatched} of its results answer no tool use before it.`,
        `結果のうち ${unmatched} 件は、直前のどの呼び出しにも対応しません。`,
      ),
    )
  if (open.size > 0)
    report(
      'results_match',
      place,
      phrase(
        `${open.size} of the tool uses before it have no result.`,
        `直前の呼び出しのうち ${open.size} 件に結果がありません。`,
      ),
    )
}
