/** Messages as Markdown, for the clipboard. */

import { removeAnsi } from '../../lib/markup/ansi.ts'
import type { MessageItem } from '../../model/api/message.ts'
import { callInputText, callOutputText } from './tool/call-texts.ts'

/** The text; of a call, its input and output. */
export function messageMarkdown({ segments, tool_call, reasoning }: MessageItem): string {
  const words = segments.flatMap(({ text }) => (text === undefined || text.trim() === '' ? [] : [text]))
  if (reasoning?.text) words.push(reasoning.text)
  if (!tool_call) return words.join('\n\n')
  const input = tool_call.diff ?? callInputText(tool_call)
  const output = removeAnsi(callOutputText(tool_call))
  return [
    `**${tool_call.name ?? 'tool'}**`,
    ...(input === '' ? [] : [fenceBlock(input, tool_call.diff === undefined ? '' : 'diff')]),
    ...(output.trim() === '' ? [] : [fenceBlock(output)]),
  ].join('\n\n')
}

/** Prompts, answers and tool calls. */
export function turnMarkdown(messages: readonly MessageItem[]): string {
  const parts = messages.flatMap((message) => {
    const words = messageMarkdown(message).trim()
    if (words === '') return []
    if (message.show === 'prompt') return [quote(words)]
    return message.show === 'answer' || message.show === 'tool' ? [words] : []
  })
  return `${parts.join('\n\n')}\n`
}

/** What the model no longer receives, for a new prompt. Turns that were rolled back had left the context before. */
export const droppedMarkdown = (messages: readonly MessageItem[]): string =>
  turnMarkdown(messages.filter(({ flags }) => flags.cut && !flags.rolled_back))

const quote = (text: string): string => text.replace(/^/gm, '> ')

function fenceBlock(text: string, language = ''): string {
  const longest = Array.from(text.matchAll(/`{3,}/g)).reduce((longestRun, [run]) => Math.max(longestRun, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`
}
