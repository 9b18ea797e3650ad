/** Templates of `fumi chat -t`: saved prompts of the user, and some of our own. */
import { AppError } from '../model/error.ts'
import { findSavedPrompts, readPromptText } from './prompts.ts'
import type { ChatSession } from './session.ts'

/** Where the prompt and piped input go. Without it, they follow the template. */
const INPUT = /\{\{\s*input\s*\}\}|\$ARGUMENTS\b/g

/** A saved prompt of the same name takes precedence. */
const BUILT_IN: { readonly [name: string]: string } = {
  review: `Review this change as an experienced engineer would. Report bugs first, then risks, then style, each with file and line, why it matters, and how to fix it. Say so if there is nothing to report. Do not praise, and do not repeat the change.`,
  commit: `Write a commit message for this change. The first line is a summary in the imperative mood with at most 72 characters. If the reason is not obvious, add a blank line and a short body that says why. Answer with the message only.`,
  explain: `Explain this to an engineer who sees it for the first time: what it is for, how it works step by step, and what is surprising about it.`,
  summarize: `Summarize this in at most ten lines. Keep names, numbers and decisions.`,
  test: `Write tests for this. Cover the usual case, the limits and the errors. Use the test framework and the style of the project.`,
}

type PromptPlaces = Pick<ChatSession, 'setup' | 'commandContext'>

export const templateNames = (session: PromptPlaces): readonly string[] => [
  ...new Set([...findSavedPrompts(session).map(({ name }) => name), ...Object.keys(BUILT_IN)]),
]

/** @param input the prompt and piped input. Throws `bad_usage` for an unknown name. */
export function applyTemplate(session: PromptPlaces, name: string, input: string): string {
  const saved = findSavedPrompts(session).find((one) => one.name === name)
  const text = saved ? readPromptText(saved.path) : Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined
  if (text === undefined) {
    const names = templateNames(session).join(', ')
    throw new AppError(
      'bad_usage',
      `Unknown template "${name}". Available: ${names}. To add one: /prompts create <name> in a chat.`,
      `テンプレート「${name}」はありません。使えるのは ${names} です。チャットの /prompts create <名前> で追加できます。`,
    )
  }
  // A function, because input may contain `$&`.
  const filled = text.replaceAll(INPUT, () => input)
  return filled === text ? [text.trimEnd(), input].filter((part) => part !== '').join('\n\n') : filled
}
