/** Replaces every word of a conversation by an invented one and keeps its structure. */
import { sha256 } from '../lib/hash.ts'
import { UUID_PATTERN } from '../model/ids.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import { isDataUri, rewriteMessage, rewriteSession, type TextRewriter } from './rewrite-message.ts'

/**
 * One run: with the same key, a word is always replaced by the same word, so ids of calls and results still match.
 * Keeps roles, kinds, times, numbers, punctuation, keys that are identifiers outside of tool arguments, text lengths and path depths. Word frequencies also
 * stay, so a person who knows the text can recognize it.
 */
export class Anonymizer {
  readonly #contentRewriter: TextRewriter
  readonly #metadataRewriter: TextRewriter

  /** @param key random, new for each run */
  constructor(key: string) {
    const words = new WordReplacer(key)
    this.#contentRewriter = createRewriter(words, 'said')
    this.#metadataRewriter = createRewriter(words, 'about')
  }

  message(message: NormalizedMessage): NormalizedMessage {
    return rewriteMessage(message, this.#contentRewriter, this.#metadataRewriter)
  }

  session(session: Session): Session {
    return rewriteSession(session, this.#metadataRewriter)
  }
}

const wordSet = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** Fields with the arguments of a tool, whose names may be private. */
const ARGUMENT_KEYS = {
  said: wordSet('arguments arguments_json input input_json'),
  about: wordSet('arguments arguments_json'),
}

function createRewriter(words: WordReplacer, scope: RewriteScope): TextRewriter {
  const rewriter: TextRewriter = {
    text: (text, key) => {
      if (isStructure(text, key, scope)) return text
      if (isDataUri(text)) return blankDataUri(text)
      if (key === 'encrypted_content') return zeroBase64(text)
      const origin = structuralPrefixOf(text, key, scope)
      return origin + words.replace(text.slice(origin.length))
    },
    key: (key) => (isStructureKey(key) ? key : words.replace(key)),
    plain: (text) => ({ text: words.replace(text), move: (position) => position }),
    within: (key) => (ARGUMENT_KEYS[scope].has(key) ? argumentRewriter : rewriter),
  }
  const argumentRewriter: TextRewriter = {
    ...rewriter,
    key: (key) => (BUILT_IN_ARGUMENTS.has(key) ? key : words.replace(key)),
    within: () => argumentRewriter,
  }
  return rewriter
}

/** An image of the same size, all zero. */
function blankDataUri(dataUri: string): string {
  const [head = '', bytes = ''] = dataUri.split(',')
  return `${head},${bytes.replaceAll(/[^=]+/g, zeroBase64)}`
}

const zeroBase64 = (text: string): string => 'A'.repeat(text.length)

const CJK = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`
/** Ids and runs of one script: without spaces, a change of script ends a word. */
const WORD_PATTERN = new RegExp(
  [
    String.raw`(?:\b${UUID_PATTERN}\b)`,
    String.raw`\p{Script=Han}+|\p{Script=Hiragana}+|\p{Script=Katakana}+`,
    String.raw`(?:(?!${CJK})[\p{L}\p{N}\p{M}])+`,
  ].join('|'),
  'gu',
)

const UUID_START = /^[0-9a-f]{8}-/
/** Digits and letters; letters alone are a word. */
const HEX_WORD = /^(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}$/

const MAX_CACHED_WORDS = 100_000
const MAX_CACHED_LENGTH = 64

export class WordReplacer {
  readonly #key: string
  readonly #cache = new Map<string, string>()

  /** @param key decodes the words; use a new one for each run and do not keep it */
  constructor(key: string) {
    this.#key = key
  }

  /** Keeps the length in characters, UTF-16 and UTF-8. */
  replace(text: string): string {
    return text.replace(WORD_PATTERN, (word) => this.#cache.get(word) ?? this.#replaceWord(word))
  }

  #replaceWord(word: string): string {
    const replaced = UUID_START.test(word) ? this.#replaceUuid(word) : this.#permuteWord(word, HEX_WORD.test(word))
    if (word.length > MAX_CACHED_LENGTH) return replaced
    if (this.#cache.size >= MAX_CACHED_WORDS) this.#cache.clear()
    this.#cache.set(word, replaced)
    return replaced
  }

  /** Keeps version and variant. */
  #replaceUuid(id: string): string {
    const digits = id.replaceAll('-', '')
    const fixed = `${digits[12]}${digits[16]}`
    const free = this.#permuteWord(digits.slice(0, 12) + digits.slice(13, 16) + digits.slice(17), true)
    const all = free.slice(0, 12) + fixed[0] + free.slice(12, 15) + fixed[1] + free.slice(15)
    return [all.slice(0, 8), all.slice(8, 12), all.slice(12, 16), all.slice(16, 20), all.slice(20)].join('-')
  }

  /** Each step depends on the previous letters, so that different words stay different. */
  #permuteWord(word: string, isHex: boolean): string {
    const characters = Array.from(word, (character) => character.codePointAt(0) ?? 0)
    if (characters.length > MAX_PERMUTED_LENGTH) return this.#shiftLongWord(characters, word, isHex)
    let result = ''
    let before = ''
    for (let at = 0; at < characters.length; ) {
      const { codePoints, alphabets, size } = takeStretch(characters, at, isHex)
      result += this.#permuteStretch(codePoints, alphabets, size, before)
      at += codePoints.length
      before = sha256(`${before}${String.fromCodePoint(...codePoints)}`).slice(0, 16)
    }
    return result
  }

  /** Shifts each letter by its own amount. A collision is possible but extremely unlikely. */
  #shiftLongWord(characters: readonly number[], word: string, isHex: boolean): string {
    const seed = sha256(`${this.#key} ${word}`)
    let digits = ''
    const moved = characters.map((character, at) => {
      const alphabet = alphabetOf(character, isHex)
      const position = (at * DIGITS_PER_CHARACTER) % HASH_LENGTH
      if (position === 0) digits = sha256(`${seed} ${at}`)
      if (!alphabet) return character
      const by = Number.parseInt(digits.slice(position, position + DIGITS_PER_CHARACTER), 16)
      return alphabet.at((alphabet.indexOf(character) + by) % alphabet.size)
    })
    return Array.from(moved, (character) => String.fromCodePoint(character)).join('')
  }

  #permuteStretch(
    codePoints: readonly number[],
    alphabets: readonly (Alphabet | undefined)[],
    size: number,
    before: string,
  ): string {
    let index = 0
    codePoints.forEach((one, at) => {
      const alphabet = alphabets[at]
      if (alphabet) index = index * alphabet.size + alphabet.indexOf(one)
    })
    // Each shape of word has its own permutation.
    const shape = alphabets.map((one) => one?.at(0) ?? 0).join()
    let remaining = permute(index, size, `${this.#key} ${shape} ${before}`)
    const replaced = [...codePoints]
    for (let at = replaced.length - 1; at >= 0; at--) {
      const alphabet = alphabets[at]
      if (!alphabet) continue
      replaced[at] = alphabet.at(remaining % alphabet.size)
      remaining = Math.floor(remaining / alphabet.size)
    }
    return String.fromCodePoint(...replaced)
  }
}

/** Longer words are so numerous that collisions do not matter. */
const MAX_PERMUTED_LENGTH = 18
const DIGITS_PER_CHARACTER = 4
const HASH_LENGTH = 64

/** Small enough for exact arithmetic in a double. */
const MAX_PERMUTATION_SIZE = 2 ** 44

function takeStretch(characters: readonly number[], from: number, isHex: boolean) {
  const codePoints: number[] = []
  const alphabets: (Alphabet | undefined)[] = []
  let size = 1
  for (let at = from; at < characters.length; at++) {
    const character = characters[at] ?? 0
    const alphabet = alphabetOf(character, isHex)
    if (codePoints.length > 0 && size * (alphabet?.size ?? 1) > MAX_PERMUTATION_SIZE) break
    size *= alphabet?.size ?? 1
    codePoints.push(character)
    alphabets.push(alphabet)
  }
  return { codePoints, alphabets, size }
}

const ROUNDS = 4

/**
 * A permutation of the numbers below `size`: a Feistel network over two halves, repeated until the result is in range.
 */
function permute(index: number, size: number, key: string): number {
  const rows = Math.ceil(Math.sqrt(size))
  const columns = Math.ceil(size / rows)
  let position = index
  do {
    let row = Math.floor(position / columns)
    let column = position % columns
    for (let round = 0; round < ROUNDS; round++) {
      if (round % 2 === 0) row = (row + hashToNumber(`${key} ${round} ${column}`)) % rows
      else column = (column + hashToNumber(`${key} ${round} ${row}`)) % columns
    }
    position = row * columns + column
  } while (position >= size)
  return position
}

const hashToNumber = (text: string): number => Number.parseInt(sha256(text).slice(0, 12), 16)

interface Alphabet {
  readonly size: number
  indexOf(codePoint: number): number
  at(index: number): number
}

const createRange = (first: number, last: number): Alphabet & { readonly first: number; readonly last: number } => ({
  first,
  last,
  size: last - first + 1,
  indexOf: (codePoint) => codePoint - first,
  at: (index) => first + index,
})

/** The largest scripts, and those that share Unicode blocks with others. */
const ALPHABET_RANGES = [
  createRange(0x61, 0x7a),
  createRange(0x41, 0x5a),
  createRange(0x30, 0x39),
  createRange(0x3041, 0x3096),
  createRange(0x30a1, 0x30fa),
  createRange(0x4e00, 0x9fa5),
  createRange(0x3400, 0x4db5),
  createRange(0xac00, 0xd7a3),
  createRange(0xff66, 0xff9d),
  createRange(0x20000, 0x2a6d6),
]

const LOWER_HEX = createRange(0x61, 0x66)
const UPPER_HEX = createRange(0x41, 0x46)

/** @param isHex letters beyond `f` are not allowed */
function alphabetOf(codePoint: number, isHex = false): Alphabet | undefined {
  if (isHex && codePoint >= LOWER_HEX.first && codePoint <= LOWER_HEX.last) return LOWER_HEX
  if (isHex && codePoint >= UPPER_HEX.first && codePoint <= UPPER_HEX.last) return UPPER_HEX
  return (
    ALPHABET_RANGES.find(({ first, last }) => codePoint >= first && codePoint <= last) ?? blockAlphabetOf(codePoint)
  )
}

const CATEGORIES = ['Lu', 'Ll', 'Lt', 'Lm', 'Lo', 'Nd', 'Nl', 'No'].map((name) => new RegExp(`^\\p{${name}}$`, 'u'))
const SCRIPTS = [
  ...['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Hebrew', 'Arabic', 'Devanagari', 'Bengali', 'Tamil', 'Thai', 'Lao'],
  ...['Georgian', 'Hangul', 'Hiragana', 'Katakana', 'Han', 'Ethiopic', 'Khmer', 'Mongolian', 'Bopomofo', 'Common'],
].map((name) => new RegExp(`^\\p{Script=${name}}$`, 'u'))
/** All code points of a block have the same size in UTF-8. */
const BLOCK_SIZE = 128

const blockAlphabets = new Map<string, Alphabet>()

/** Nearby letters of the same script and case. */
function blockAlphabetOf(codePoint: number): Alphabet | undefined {
  const kind = characterKind(codePoint)
  if (kind === undefined) return undefined
  const start = codePoint - (codePoint % BLOCK_SIZE)
  const key = `${start} ${kind}`
  const known = blockAlphabets.get(key)
  if (known) return known
  const members = Array.from({ length: BLOCK_SIZE }, (_, at) => start + at).filter((one) => isInBlock(one, kind))
  const alphabet: Alphabet = {
    size: members.length,
    indexOf: (one) => members.indexOf(one),
    at: (index) => members[index] ?? codePoint,
  }
  blockAlphabets.set(key, alphabet)
  return alphabet
}

/** Excludes letters of other ranges; otherwise two letters could become one. */
const isInBlock = (codePoint: number, kind: string): boolean =>
  characterKind(codePoint) === kind &&
  !ALPHABET_RANGES.some(({ first, last }) => codePoint >= first && codePoint <= last)

function characterKind(codePoint: number): string | undefined {
  const character = String.fromCodePoint(codePoint)
  const category = CATEGORIES.findIndex((one) => one.test(character))
  return category < 0 ? undefined : `${category} ${SCRIPTS.findIndex((one) => one.test(character))}`
}

/** Keys whose values belong to a format. */
const FORMAT_KEYS = wordSet(`
  type role status kind mode phase format object detail mime_type encoding channel source_status
`)
/** Keys of metadata whose values come from a program. */
const METADATA_KEYS = wordSet(`
  event_type payload_type payload_role event_kind item_kind source_type what agent_version cli_version
  originator origin source relation model models model_id model_name model_provider effort approval_policy
  sandbox_policy finish_reason stop_reason history_mode memory_mode collaboration_mode_kind
  multi_agent_version operating_system blocks change chat_conversation_type message_meta_tags reason rate_unit
`)
/** Built-in tools of the programs. Other tools may have private names. */
const BUILT_IN_TOOLS = wordSet(`
  shell container.exec local_shell shell_command exec_command write_stdin update_plan exec view_image
  apply_patch request_user_input spawn_agent wait_agent send_input close_agent list_mcp_resources web_search
  tool_search image_generation fs_read fs_write execute_bash execute_cmd use_aws report_issue introspect
  thinking knowledge todo_list delegate dummy
`)
/** Arguments of these tools, and words of every format. */
const BUILT_IN_ARGUMENTS = wordSet(`
  command cmd path file_path filePath content pattern query old_string new_string url timeout timeout_ms workdir cwd input text
  name description limit offset status plan step explanation type id key value todos prompt message args arguments lines
  start end mode include exclude recursive
`)
const TOOL_NAME_KEYS = new Set(['name', 'orig_name', 'tool'])

const FORMAT_WORD = /^[A-Za-z][\w./-]{0,39}$|^\d+(?:\.\d+)*[\w.-]{0,20}$/
/** A time, also at the start of a message id. */
const TIMESTAMP = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?(?:#\d+(?:\.\d+)?)?$/
/** An identifier; other keys are data. */
const IDENTIFIER = /^[A-Za-z_$][\w$]{0,39}$/

const isStructureKey = (key: string): boolean => IDENTIFIER.test(key)

type RewriteScope = 'about' | 'said'

function isStructure(text: string, key: string | undefined, scope: RewriteScope): boolean {
  if (TIMESTAMP.test(text)) return true
  if (key === undefined) return false
  if (TOOL_NAME_KEYS.has(key) && BUILT_IN_TOOLS.has(text)) return true
  return (FORMAT_KEYS.has(key) || (scope === 'about' && METADATA_KEYS.has(key))) && FORMAT_WORD.test(text)
}

const SESSION_ID_KEYS = new Set(['id', 'session_id', 'parent', 'ancestors'])

/** The agent in a session id, and the prefix of an MCP tool. */
function structuralPrefixOf(text: string, key: string | undefined, scope: RewriteScope): string {
  if (key !== undefined && TOOL_NAME_KEYS.has(key) && text.startsWith(SERVER_TOOL_PREFIX)) return SERVER_TOOL_PREFIX
  if (scope === 'said' || key === undefined || !SESSION_ID_KEYS.has(key)) return ''
  return /^[a-z][a-z-]*:(?=\S+$)/.exec(text)?.[0] ?? ''
}

const SERVER_TOOL_PREFIX = 'mcp__'
