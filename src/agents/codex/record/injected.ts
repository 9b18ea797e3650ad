/** Tells what the user typed from what the program put into his mouth. */
import type { Annotation } from '../../../model/normalized.ts'

/** A tag's name is what the annotation calls it. */
const INJECTED_TAGS = new Set([
  'environment_context',
  'user_instructions',
  'instructions',
  'skill',
  'user_shell_command',
  'turn_aborted',
  'user_action',
  'subagent_notification',
  'recommended_plugins',
  'codex_internal_context',
  'goal_context',
  'hook_prompt',
  'additional_context',
  'permissions',
  'collaboration_mode',
  'skills_instructions',
  'plugins_instructions',
  'apps_instructions',
  'app-context',
  'environments_instructions',
  'multi_agent_mode',
  'personality_spec',
  'model_switch',
  'context_window',
  'realtime_conversation',
  'managed_developer_instructions',
  'token_budget',
  'rollout_budget',
])

const INJECTED_OPENINGS: readonly (readonly [opening: string, what: string])[] = [
  ['# agents.md instructions', 'agents_md'],
  ['another language model started to solve this problem', 'compaction_summary'],
  ['warning: apply_patch was requested via', 'warning'],
  ['warning: the maximum number of unified exec', 'warning'],
  ['warning: your account was flagged', 'warning'],
]

const IDE_OPENING = '# context from my ide'
const IDE_REQUEST = /^## My request for Codex:[^\n]*\n?/im
const TAG = /^<([a-z][a-z0-9_-]*)(?=[\s>/])/i
const IMAGE_FRAME = /^<\/?image\b[^>]*>$/i
const IMAGE_PATH = /\bpath="([^"]+)"/

const MAX_OPENING_LENGTH = 80

/** The stretches of a user's text part that nobody typed. */
export function findInjected(text: string): readonly Annotation[] {
  const code = text.charCodeAt(0)
  // Nearly all typed prompts leave here: openings begin with `<`, `#`, white space or one of two letters.
  if (code > 60 && code !== 65 && code !== 97 && code !== 87 && code !== 119) return NO_ANNOTATIONS
  const opening = text.slice(0, MAX_OPENING_LENGTH + leadingSpace(text)).trimStart()
  if (opening.startsWith('<')) return findImageFrame(text) ?? findInjectedTag(text, opening)
  const lower = opening.toLowerCase()
  if (lower.startsWith(IDE_OPENING)) return findIdeContext(text)
  const found = INJECTED_OPENINGS.find(([start]) => lower.startsWith(start))
  return found ? [injectedAnnotation(text, found[1])] : NO_ANNOTATIONS
}

/** A developer's or system's text: all of it comes from the program. */
export function annotateAllInjected(text: string, fallback: string): readonly Annotation[] {
  return [
    injectedAnnotation(text, TAG.exec(text.slice(0, MAX_OPENING_LENGTH).trimStart())?.[1]?.toLowerCase() ?? fallback),
  ]
}

export const coversText = (annotations: readonly Annotation[], text: string): boolean =>
  annotations.some((mark) => mark.kind === 'injected' && mark.start === 0 && mark.end === text.length)

function findInjectedTag(text: string, opening: string): readonly Annotation[] {
  const tag = TAG.exec(opening)?.[1]?.toLowerCase()
  return tag !== undefined && INJECTED_TAGS.has(tag) ? [injectedAnnotation(text, tag)] : NO_ANNOTATIONS
}

/** Images stand between two text parts, `<image …>` and `</image>`. */
function findImageFrame(text: string): readonly Annotation[] | undefined {
  if (!IMAGE_FRAME.test(text.trim())) return undefined
  const path = IMAGE_PATH.exec(text)
  if (!path?.[1]) return [injectedAnnotation(text, 'image_frame')]
  const start = path.index + 'path="'.length
  return [
    injectedAnnotation(text, 'image_frame'),
    { kind: 'link', start, end: start + path[1].length, target: path[1] },
  ]
}

function findIdeContext(text: string): readonly Annotation[] {
  const request = IDE_REQUEST.exec(text)
  if (!request) return [injectedAnnotation(text, 'ide_context')]
  return [{ kind: 'injected', start: 0, end: request.index + request[0].length, what: 'ide_context' }]
}

const injectedAnnotation = (text: string, what: string): Annotation => ({
  kind: 'injected',
  start: 0,
  end: text.length,
  what,
})

const leadingSpace = (text: string): number => (text.charCodeAt(0) <= 32 ? text.length - text.trimStart().length : 0)

const NO_ANNOTATIONS: readonly Annotation[] = []
