/** The order of a history: prompts, tool uses and their results. */

import {
  CONTEXT_ENTRY_START_HEADER,
  MAX_CURRENT_WORKING_DIRECTORY_LEN,
  MAX_IMAGE_SIZE,
  MAX_NUMBER_OF_IMAGES_PER_REQUEST,
  MAX_TOOL_RESPONSE_SIZE,
  MAX_USER_MESSAGE_SIZE,
  USER_ENTRY_START_HEADER,
} from '../../../conversation/limits.ts'
import type { AssistantMessage, AssistantToolUse, ImageBlock, UserMessage } from '../../../conversation/message.ts'
import type { History } from '../../../conversation/record.ts'
import { contentWithContext, promptOf, toolUseResultsOf } from '../../../conversation/render.ts'
import { writeBlock } from '../../../conversation/truncate.ts'
import { isJsonObject } from '../../../lib/json/lossless.ts'
import { phrase } from '../../../model/phrase.ts'
import { byteLength } from '../../../model/tokens/token-estimate.ts'
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

/** One message of the user by itself: sizes, emptiness, images. */
function checkUserMessage(message: UserMessage, place: string, report: AmazonQReport): void {
  const prompt = promptOf(message)
  const results = toolUseResultsOf(message)
  if (prompt !== undefined) checkPrompt(prompt, `${place}.content`, report)
  if (!results && contentWithContext(message) === '')
    report('prompt_empty', `${place}.content`, phrase('It says nothing.', '内容がありません。'))
  results?.forEach(({ content }, at) => {
    const size = content.reduce((sum, block) => sum + byteLength(writeBlock(block, () => {}) ?? ''), 0)
    if (size > MAX_TOOL_RESPONSE_SIZE)
      report(
        'result_size',
        `${place}.content`,
        phrase(
          `Result ${at + 1} has ${size} bytes; ${MAX_TOOL_RESPONSE_SIZE} are taken.`,
          `結果 ${at + 1} は ${size} バイトです。上限は ${MAX_TOOL_RESPONSE_SIZE} バイトです。`,
        ),
      )
  })
  const directory = message.env_context.env_state?.current_working_directory ?? ''
  if (byteLength(directory) > MAX_CURRENT_WORKING_DIRECTORY_LEN)
    report(
      'directory_size',
      `${place}.env_context.env_state.current_working_directory`,
      phrase(
        `The path is longer than ${MAX_CURRENT_WORKING_DIRECTORY_LEN} bytes.`,
        `パスが ${MAX_CURRENT_WORKING_DIRECTORY_LEN} バイトを超えています。`,
      ),
    )
  if (message.images) checkImages(message.images, `${place}.images`, report)
}

function checkPrompt(prompt: string, place: string, report: AmazonQReport): void {
  const size = byteLength(prompt)
  if (size > MAX_USER_MESSAGE_SIZE)
    report(
      'prompt_size',
      place,
      phrase(
        `The prompt has ${size} bytes; ${MAX_USER_MESSAGE_SIZE} are taken.`,
        `依頼は ${size} バイトです。上限は ${MAX_USER_MESSAGE_SIZE} バイトです。`,
      ),
    )
  if (prompt.startsWith(CONTEXT_ENTRY_START_HEADER) || prompt.startsWith(USER_ENTRY_START_HEADER))
    report(
      'prompt_rendered',
      place,
      phrase(
        'The prompt holds the markers that are put around it when it is sent.',
        '送信時に付く印が依頼に含まれています。',
      ),
    )
}

function checkImages(images: readonly ImageBlock[], place: string, report: AmazonQReport): void {
  if (images.length > MAX_NUMBER_OF_IMAGES_PER_REQUEST)
    report(
      'image_count',
      place,
      phrase(
        `It has ${images.length} images; ${MAX_NUMBER_OF_IMAGES_PER_REQUEST} are taken.`,
        `画像が ${images.length} 枚あります。上限は ${MAX_NUMBER_OF_IMAGES_PER_REQUEST} 枚です。`,
      ),
    )
  images.forEach((image, at) => {
    checkImage(image, `${place}[${at}]`, report)
  })
}

function checkImage({ format, source }: ImageBlock, place: string, report: AmazonQReport): void {
  if (source === 'Unknown')
    return report('image_format', place, phrase('The image has no bytes.', '画像にデータがありません。'))
  if (source.Bytes.length > MAX_IMAGE_SIZE)
    report(
      'image_size',
      place,
      phrase(
        `The image has ${source.Bytes.length} bytes; ${MAX_IMAGE_SIZE} are taken.`,
        `画像は ${source.Bytes.length} バイトです。上限は ${MAX_IMAGE_SIZE} バイトです。`,
      ),
    )
  if (!hasSignature(format, source.Bytes))
    report(
      'image_format',
      place,
      phrase(`The bytes are not those of a ${format} image.`, `${format} の画像のデータではありません。`),
    )
}

const IMAGE_SIGNATURES: Readonly<Record<string, readonly (number | undefined)[]>> = {
  Png: [0x89, 0x50, 0x4e, 0x47],
  Jpeg: [0xff, 0xd8, 0xff],
  Gif: [0x47, 0x49, 0x46, 0x38],
  Webp: [0x52, 0x49, 0x46, 0x46, undefined, undefined, undefined, undefined, 0x57, 0x45, 0x42, 0x50],
}

const hasSignature = (format: string, bytes: readonly number[]): boolean => {
  const signature = Object.hasOwn(IMAGE_SIGNATURES, format) ? IMAGE_SIGNATURES[format] : undefined
  return signature?.every((byte, at) => byte === undefined || byte === bytes[at]) ?? true
}
