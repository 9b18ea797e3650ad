/** What each server takes and refuses. The one place to change when a server changes; each line with what it rests on. */

import type { Role } from './message.ts'

/** The servers, and the one other use of messages, that are known here. */
export type ProfileName = 'openai' | 'openai-strict' | 'ollama' | 'vllm' | 'llamacpp' | 'lmstudio' | 'fine-tune'

/** A server, or a use of messages, as far as it decides what a message may be. */
export interface Profile {
  /** For sentences. */
  readonly label: string
  /** What each role is sent as. */
  readonly roles: { readonly [role in Role]: Role }
  /** The fields that a message of a role may have besides `role` and `content`. */
  readonly keys: { readonly [role in Role]: readonly string[] }
  /** Whether a field that the API does not know makes the server refuse the request; otherwise it is sent. */
  readonly unknownKeys: 'refused' | 'ignored'
  /** Fields that may be null. */
  readonly nullKeys: readonly string[]
  /** The types of parts that the content of a role may have. */
  readonly parts: { readonly [role in Role]: readonly string[] }
  /** Whether images may lie elsewhere, and the types of those that come as data URIs; no list means any. */
  readonly images: { readonly remote: boolean; readonly types?: readonly string[] }
  /** Ids of calls that may stay. Others become the prefix and so many hexadecimal digits. */
  readonly callIds: { readonly legal: RegExp; readonly prefix: string; readonly digits: number }
  /** Names of tools that may stay. */
  readonly toolNames: RegExp
  /** Whether calls of custom tools are taken. Otherwise they become function calls. */
  readonly customCalls: boolean
  /** What arguments must be: any text, or the text of a JSON object. */
  readonly arguments: 'text' | 'object'
  /** The content of a message that only calls tools: null, or an empty text, or either. */
  readonly silence: 'null' | 'empty' | 'any'
  /** Whether a message may be an empty text. Results of tools always may. */
  readonly emptyText: boolean
  /** Where instructions may stand: anywhere, or in one message before all others. */
  readonly system: 'anywhere' | 'first'
  /** The field in which the model gets its thoughts back. Without it they are not sent. */
  readonly reasoningKey?: string
  /** Training: the last message is the assistant's, and its calls need no answer. */
  readonly endsWithAssistant: boolean
}

const SAME_ROLES: Profile['roles'] = {
  developer: 'developer',
  system: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'function',
}

/** Templates of local models know neither developers nor the old functions. */
const LOCAL_ROLES: Profile['roles'] = { ...SAME_ROLES, developer: 'system', function: 'tool' }

const OPENAI_KEYS: Profile['keys'] = {
  developer: ['name'],
  system: ['name'],
  user: ['name'],
  assistant: ['name', 'refusal', 'audio', 'tool_calls', 'function_call'],
  tool: ['tool_call_id'],
  function: ['name'],
}

/** The name of a tool helps servers that look for it; the name of a speaker reaches no template. */
const LOCAL_KEYS: Profile['keys'] = {
  developer: [],
  system: [],
  user: [],
  assistant: ['tool_calls'],
  tool: ['tool_call_id', 'name'],
  function: ['name'],
}

const TEXT_ONLY = ['text']

/** Types of openai 6.49: instructions and results are text only, and only an assistant refuses. */
const OPENAI_PARTS: Profile['parts'] = {
  developer: TEXT_ONLY,
  system: TEXT_ONLY,
  user: ['text', 'image_url', 'input_audio', 'file'],
  assistant: ['text', 'refusal'],
  tool: TEXT_ONLY,
  function: TEXT_ONLY,
}

const toLocalParts = (...user: readonly string[]): Profile['parts'] => ({
  ...OPENAI_PARTS,
  user,
  assistant: TEXT_ONLY,
})

/** Refused with "string_above_max_length" from 41 letters on: vercel/ai#5171, microsoft/autogen#6377, agno#5382. */
const OPENAI_IDS: Profile['callIds'] = { legal: /^.{1,40}$/su, prefix: 'call_', digits: 24 }
const ANY_IDS: Profile['callIds'] = { ...OPENAI_IDS, legal: /./s }

/** The pattern is in the error message: mcp-use#90, continuedev/continue#9784 (an empty name). */
const OPENAI_NAMES = /^[A-Za-z0-9_-]{1,64}$/

const openai: Profile = {
  label: 'OpenAI',
  roles: SAME_ROLES,
  // Answers are sent back as they came in OpenAI's own examples, with annotations.
  keys: { ...OPENAI_KEYS, assistant: [...OPENAI_KEYS.assistant, 'annotations'] },
  // "Additional properties are not allowed": agentic#531.
  unknownKeys: 'refused',
  nullKeys: ['refusal', 'audio', 'function_call'],
  parts: OPENAI_PARTS,
  images: { remote: true, types: ['png', 'jpeg', 'jpg', 'gif', 'webp'] },
  callIds: OPENAI_IDS,
  toolNames: OPENAI_NAMES,
  customCalls: true,
  arguments: 'text',
  silence: 'any',
  emptyText: true,
  system: 'anywhere',
  endsWithAssistant: false,
}

const LOCAL_SERVER = {
  roles: LOCAL_ROLES,
  keys: LOCAL_KEYS,
  nullKeys: [],
  callIds: ANY_IDS,
  toolNames: /./s,
  customCalls: false,
  arguments: 'object',
  emptyText: true,
  // "System message must be at the beginning": llama.cpp#20733, Qwen's template, whichever server runs it.
  system: 'first',
  endsWithAssistant: false,
} as const satisfies Partial<Profile>

/** The servers we know. To change one, spread it: `{ ...PROFILES.vllm, callIds: { legal: /^[A-Za-z0-9]{9}$/, prefix: '', digits: 9 } }`. */
export const PROFILES: { readonly [name in ProfileName]: Profile } = {
  openai,
  /** The published types and nothing else: nothing deprecated, nothing that only happens to work. */
  'openai-strict': {
    ...openai,
    label: 'OpenAI (strict)',
    roles: { ...SAME_ROLES, function: 'tool' },
    keys: { ...OPENAI_KEYS, assistant: ['name', 'refusal', 'audio', 'tool_calls'] },
    nullKeys: [],
    arguments: 'object',
    emptyText: false,
  },
  /** openai/openai.go: its Message struct, FromChatRequest. */
  ollama: {
    ...LOCAL_SERVER,
    label: 'Ollama',
    unknownKeys: 'ignored',
    parts: toLocalParts('text', 'image_url'),
    // "invalid image input" for anything else; a data URI may also name no type.
    images: { remote: false, types: ['jpeg', 'jpg', 'png', 'webp', ''] },
    // An empty text makes some models write their calls as text: vercel/ai#12390.
    silence: 'null',
    reasoningKey: 'reasoning',
  },
  vllm: {
    ...LOCAL_SERVER,
    label: 'vLLM',
    // "extra_forbidden": vllm#9209; 400 for reasoning_content: Qwen-Agent#470.
    unknownKeys: 'refused',
    parts: toLocalParts('text', 'image_url', 'input_audio', 'audio_url', 'video_url'),
    images: { remote: true },
    silence: 'any',
  },
  /** common/chat.cpp: calls are functions, a field that is null is no text. */
  llamacpp: {
    ...LOCAL_SERVER,
    label: 'llama.cpp',
    unknownKeys: 'ignored',
    parts: toLocalParts('text', 'image_url', 'input_audio'),
    images: { remote: true },
    // Templates that add texts fail on null: llama.cpp#18463.
    silence: 'empty',
  },
  lmstudio: {
    ...LOCAL_SERVER,
    label: 'LM Studio',
    unknownKeys: 'ignored',
    parts: toLocalParts('text', 'image_url'),
    // "'url' field must be a base64 encoded image", for addresses and for webp: lmstudio-bug-tracker#1120, #1752, #1027.
    images: { remote: false, types: ['png', 'jpeg', 'jpg'] },
    // "'content' field must be a string or an array of objects": lmstudio-bug-tracker#261.
    silence: 'empty',
  },
  /** The schema of fine-tuning in OpenAI's API description; examples end with what is to be learned. */
  'fine-tune': {
    ...openai,
    label: 'Fine-tuning',
    keys: { ...OPENAI_KEYS, assistant: ['name', 'refusal', 'tool_calls', 'function_call', 'weight'] },
    nullKeys: [],
    parts: { ...OPENAI_PARTS, user: ['text', 'image_url'] },
    customCalls: false,
    arguments: 'object',
    emptyText: false,
    endsWithAssistant: true,
  },
}

/** A profile by its name, or the profile itself. */
export function profileOf(profile: ProfileName | Profile): Profile {
  return typeof profile === 'string' ? PROFILES[profile] : profile
}
