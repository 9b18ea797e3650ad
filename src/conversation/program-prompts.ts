/** Prompts that Amazon Q CLI, Kiro CLI and our own chat write in the user's place. */
import { HISTORY_OVERFLOWED, TOOL_USE_INTERRUPTED } from './limits.ts'

/** By the names under which they are shown. */
const PROGRAM_PROMPTS: ReadonlyMap<string, string> = new Map([
  [TOOL_USE_INTERRUPTED, 'tool_interrupted'],
  // The answer `n` to the question whether a tool may run.
  ['I deny this tool request. Ask a follow up question clarifying the expected action', 'tool_denied'],
  [HISTORY_OVERFLOWED, 'history_overflowed'],
  // Sent by `--resume` without a prompt.
  ['In a few words, summarize our conversation so far.', 'resumed'],
  ['You took too long to respond - try to split up the work into smaller steps.', 'timed_out'],
  [
    'The generated tool was too large, try again but this time split up the work between multiple tool uses',
    'tool_too_large',
  ],
])

const FORBIDDEN_TOOL = /^Tool use with \S{1,200} was rejected because the arguments supplied were forbidden$/
/** Sent by `/todos resume`. */
const AUTOMATED_REQUEST = '[SYSTEM NOTE: This is an automated request, not from the user]'

/** The name of a prompt that a program wrote; undefined if a person typed it. */
export function programPromptName(text: string): string | undefined {
  if (text.startsWith(AUTOMATED_REQUEST)) return 'automated_request'
  return PROGRAM_PROMPTS.get(text) ?? (FORBIDDEN_TOOL.test(text) ? 'tool_forbidden' : undefined)
}
