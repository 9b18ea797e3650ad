/**
 * Collects the words of texts and writes them as a sorted list of terms with postings. Compiled to WebAssembly by
 * `tools/build-wasm.mjs`. `test/search/plain-term-table.ts` does the same in plain TypeScript, and a test compares them
 * byte by byte. The format is described in `src/search/segments/blocks.ts`.
 *
 * A document is one field of one message. The memory consists of regions that are replaced by larger copies when they
 * are full; `reset` frees all of them at once.
 */

/** The host writes texts here, in pieces. Zeros after the piece end its last word. */
const INPUT_BYTES: u32 = 1 << 18
const INPUT_PADDING: u32 = 16
/** Only the beginning of a longer word is a term. */
const MAX_WORD_BYTES: u32 = 64
/** A block ends before the entry that would exceed this. */
const BLOCK_BYTES: u32 = 4056
/** Halves of the first byte of an entry from here on are in bytes of their own. */
const LONG: u32 = 15
const ESCAPE: u32 = 12
const ESCAPED_BITS: u32 = 24
const PARAMETER_BITS: u32 = 4
const MAX_PARAMETER: u32 = 15
const MAX_FREQUENCY: u32 = 255
const MAX_IDENTIFIER_LENGTH: u32 = 64

const SEPARATOR: u8 = 0
const LOWER: u8 = 1
const UPPER: u8 = 2
const DIGIT: u8 = 3

/** Kinds of ASCII characters, as in `src/search/words/characters.ts`. */
const KINDS: usize = memory.data(256)
/** The character as stored in a term, or 0 if it separates words. One table for each kind of text. */
const PLAIN: usize = memory.data(256)
const ANALYSED: usize = memory.data(256)
const ENDS: usize = memory.data(64)
const INPUT: usize = memory.data(INPUT_BYTES + INPUT_PADDING)

/**
 * Words of the document that are not in the table yet, each with its hash, address and length. Their slots are loaded
 * one right after the other, so that the processor waits for distant memory only once for all of them.
 */
const PENDING_WORDS: u32 = 128
const PENDING_BYTES: u32 = 16
const PENDING: usize = memory.data(PENDING_WORDS * PENDING_BYTES)
const PENDING_TEXT: usize = memory.data(PENDING_WORDS * (MAX_WORD_BYTES + 8) + 16)

for (let code: u32 = 0; code < 256; code++) {
  const isDigit = code >= 48 && code < 58
  const isLower = code >= 97 && code < 123
  const isUpper = code >= 65 && code < 91
  store<u8>(KINDS + code, isLower ? LOWER : isUpper ? UPPER : isDigit ? DIGIT : SEPARATOR)
  store<u8>(PLAIN + code, isLower || isDigit ? code : isUpper ? code | 32 : 0)
  store<u8>(ANALYSED + code, isLower || isDigit || code >= 128 || code === 95 ? code : isUpper ? code | 32 : 0)
}

// Regions, with their sizes in bytes.
const FIRST_SLOTS: u32 = 1 << 17
let slots: usize = 0
let slotMask: u32 = 0
/**
 * Each slot holds 8 bits of the hash of a word and the number of its term plus one. What is needed of a known word is in
 * `known`, where frequent words are close together, because most of them are found early: most of the time goes into
 * waiting for memory.
 */
const SLOT_BYTES: u32 = 4
const NUMBER_MASK: u32 = 0xffffff
/** Of each term: the hash of its word, its last posting and the number of its postings. Equal hashes count as equal words. */
let known: usize = 0
let knownEnd: usize = 0
const KNOWN_BYTES: u32 = 16
const LAST: u32 = 8
const COUNT: u32 = 12
/** Further words of an absurd text are left out. */
const MAX_TERMS: u32 = 0xfffff0
let terms: usize = 0
let termsEnd: usize = 0
/** Each term has the address and length of its word. */
const TERM_BYTES: u32 = 8
let postings: usize = 0
let postingsEnd: usize = 0
/** Each posting has the number of its term, its document and, in the highest byte, the frequency. */
const POSTING_BYTES: u32 = 8
const DOCUMENT_MASK: u32 = 0xffffff
let words: usize = 0
let wordsEnd: usize = 0

let top: usize = 0
let termCount: u32 = 0
let postingCount: u32 = 0
let wordsUsed: usize = 0
let document: u32 = 0
let firstPosting: u32 = 0
let documentLength: u32 = 0
let pendingWords: u32 = 0
/** Where the next word goes. */
let pendingText: usize = PENDING_TEXT
/** Values that do not matter. Exported, so that the compiler does not leave out their loads. */
let ignored: u64 = 0
/** The previous piece ended inside a word. */
let isInsideWord: bool = false

// The result of `finish`.
let blocks: usize = 0
let blockEnds: usize = 0
let blockCount: u32 = 0

export function inputAt(): usize {
  return INPUT
}
export function inputSize(): u32 {
  return INPUT_BYTES
}
export function termsFound(): u32 {
  return termCount
}
export function documents(): u32 {
  return document
}
export function loadedAhead(): u32 {
  return <u32>ignored
}
export function blocksAt(): usize {
  return blocks
}
export function blockEndsAt(): usize {
  return blockEnds
}
export function blocksFound(): u32 {
  return blockCount
}

function allocate(bytes: usize): usize {
  const at = top
  top = (top + bytes + 15) & ~15
  const missing = <i32>(top >>> 16) + 1 - memory.size()
  if (missing > 0 && memory.grow(missing) < 0) unreachable()
  return at
}

export function reset(): void {
  top = (__heap_base + 15) & ~15
  slots = allocate(FIRST_SLOTS * SLOT_BYTES)
  slotMask = FIRST_SLOTS - 1
  memory.fill(slots, 0, FIRST_SLOTS * SLOT_BYTES)
  known = allocate(3 << 19)
  knownEnd = top
  terms = allocate(3 << 18)
  termsEnd = top
  postings = allocate(1 << 23)
  postingsEnd = top
  words = allocate(1 << 21)
  wordsEnd = top
  wordsUsed = words
  termCount = 0
  postingCount = 0
  document = 0
  pendingWords = 0
  pendingText = PENDING_TEXT
}

export function beginDocument(): void {
  firstPosting = postingCount
  documentLength = 0
  isInsideWord = false
}

/** @returns the number of words in the document */
export function endDocument(): u32 {
  addPending()
  document++
  return documentLength
}

/** Adds a piece of a text. @param isAnalysed the words are already folded, and parts of identifiers are among them */
export function addPiece(length: u32, isAnalysed: bool): void {
  const end = INPUT + length
  store<u64>(end, 0)
  store<u64>(end + 8, 0)
  const folds = isAnalysed ? ANALYSED : PLAIN
  let at = INPUT
  if (isInsideWord) while (at < end && load<u8>(folds + load<u8>(at)) !== 0) at++
  if (isAnalysed) addWords(at, end)
  else addIdentifiers(at, end)
  if (length > 0) isInsideWord = load<u8>(folds + load<u8>(end - 1)) !== 0
}

function addWords(start: usize, end: usize): void {
  let at = start
  while (at < end) {
    if (load<u8>(ANALYSED + load<u8>(at)) === 0) at++
    else {
      at = addWord(ANALYSED, at)
      documentLength++
    }
  }
}

function addIdentifiers(start: usize, end: usize): void {
  let at = start
  while (at < end) {
    const eight = load<u64>(at)
    const inWord = lettersIn(eight) | digitsIn(eight)
    if ((inWord & 0x80) === 0) at += <usize>ctz(inWord) >>> 3
    else {
      at = addIdentifier(at)
      documentLength++
    }
  }
}

// Eight ASCII characters at a time. The result has the highest bit of each byte whose character is of the kind.
const ONES: u64 = u64.MAX_VALUE / 255
const HIGHEST: u64 = ONES * 0x80
/** Makes a capital letter a small one, and leaves digits as they are. */
const SMALL: u64 = ONES * 0x20

function lettersIn(eight: u64): u64 {
  const small = eight | SMALL
  return (small + ONES * (0x80 - 0x61)) & ~(small + ONES * (0x80 - 0x7b)) & HIGHEST
}

function digitsIn(eight: u64): u64 {
  return (eight + ONES * (0x80 - 0x30)) & ~(eight + ONES * (0x80 - 0x3a)) & HIGHEST
}

/** @returns the end of the word */
function addWord(folds: usize, start: usize): usize {
  let at = start
  let to = pendingText
  const limit = to + MAX_WORD_BYTES
  for (;;) {
    const folded = load<u8>(folds + load<u8>(at))
    if (folded === 0) break
    if (to < limit) store<u8>(to++, folded)
    at++
  }
  const length = <u32>(to - pendingText)
  // A boundary by itself is not a word.
  if (length > 1 || load<u8>(pendingText) !== 95) addTerm(length)
  return at
}

/** Adds the word and, if its kind of character changes, its parts. @returns the end of the word */
function addIdentifier(start: usize): usize {
  let at = start
  let length: u32 = 0
  let hash: u64 = 0
  let lower: u64 = 0
  let upper: u64 = 0
  let digit: u64 = 0
  for (;;) {
    const eight = load<u64>(at)
    const letters = lettersIn(eight)
    const digits = digitsIn(eight)
    const bytes = <u32>ctz(~(letters | digits) & HIGHEST) >>> 3
    if (bytes === 0) break
    const within = bytes === 8 ? ~(<u64>0) : ((<u64>1) << (bytes * 8)) - 1
    // The bit that makes letters small, moved to the highest.
    const small = eight << 2
    lower |= letters & small & within
    upper |= letters & ~small & within
    digit |= digits & within
    if (length < MAX_WORD_BYTES) {
      const folded = (eight | SMALL) & within
      store<u64>(pendingText + length, folded)
      hash = mix(hash, folded)
      length += bytes
    }
    at += bytes
    if (bytes < 8) break
  }
  addLater(length, finishHash(hash))
  // More than one kind of character.
  if (<u32>(lower !== 0) + <u32>(upper !== 0) + <u32>(digit !== 0) > 1) addParts(start, at)
  return at
}

/** The same as `identifierPartEnds` in `src/search/words/identifiers.ts`. */
function addParts(start: usize, end: usize): void {
  const length = <u32>(end - start)
  let before = load<u8>(KINDS + load<u8>(start))
  if (length > MAX_IDENTIFIER_LENGTH || before === DIGIT) return
  let count: u32 = 0
  let first = start
  let hasWord = false
  for (let at = start + 1; at < end; at++) {
    const here = load<u8>(KINDS + load<u8>(at))
    if (here === before && here !== UPPER) continue
    const isBorder =
      here === UPPER
        ? before !== UPPER || (at + 2 < end && isLowerAt(at + 1) && isLowerAt(at + 2))
        : here === DIGIT || before === DIGIT
    if (isBorder) {
      store<u8>(ENDS + count++, <u8>(at - start))
      if (before !== DIGIT && at - first > 1) hasWord = true
      first = at
    }
    before = here
  }
  if (count === 0) return
  store<u8>(ENDS + count++, <u8>length)
  if (before !== DIGIT && end - first > 1) hasWord = true
  if (!hasWord || (count > 3 && length < count * 3)) return
  let from = start
  for (let part: u32 = 0; part < count; part++) {
    const to = start + load<u8>(ENDS + part)
    addPart(from, to)
    from = to
  }
}

function isLowerAt(at: usize): bool {
  return load<u8>(KINDS + load<u8>(at)) === LOWER
}

function addPart(start: usize, end: usize): void {
  let to = pendingText
  for (let at = start; at < end; at++) store<u8>(to++, load<u8>(PLAIN + load<u8>(at)))
  addTerm(<u32>(to - pendingText))
}

/** The word is at `pendingText`. */
function addTerm(length: u32): void {
  store<u64>(pendingText + length, 0)
  addLater(length, hashOf(pendingText, length))
}

/** The word is at `pendingText`, with zeros up to a multiple of eight bytes. */
function addLater(length: u32, hash: u64): void {
  const one = PENDING + <usize>pendingWords * PENDING_BYTES
  store<u64>(one, hash)
  store<u32>(one, <u32>pendingText, 8)
  store<u32>(one, length, 12)
  pendingText += (length + 8) & ~7
  if (++pendingWords === PENDING_WORDS) addPending()
}

function addPending(): void {
  const end = PENDING + <usize>pendingWords * PENDING_BYTES
  let sum: u64 = 0
  for (let one = PENDING; one < end; one += PENDING_BYTES)
    sum += load<u32>(slots + <usize>(load<u32>(one) & slotMask) * SLOT_BYTES)
  for (let one = PENDING; one < end; one += PENDING_BYTES) {
    const slot = load<u32>(slots + <usize>(load<u32>(one) & slotMask) * SLOT_BYTES)
    if (slot !== 0) sum += load<u64>(known + <usize>((slot & NUMBER_MASK) - 1) * KNOWN_BYTES)
  }
  ignored = sum
  for (let one = PENDING; one < end; one += PENDING_BYTES)
    addHashed(<usize>load<u32>(one, 8), load<u32>(one, 12), load<u64>(one))
  pendingWords = 0
  pendingText = PENDING_TEXT
}

/** A new word is copied, with zeros up to a multiple of eight bytes. */
function addHashed(word: usize, length: u32, hash: u64): void {
  const tag = tagOf(hash)
  let at = <u32>hash & slotMask
  for (;;) {
    const slot = load<u32>(slots + <usize>at * SLOT_BYTES)
    if (slot === 0) break
    if ((slot & ~NUMBER_MASK) === tag) {
      const number = (slot & NUMBER_MASK) - 1
      const one = known + <usize>number * KNOWN_BYTES
      if (load<u64>(one) === hash) return count(one, number)
    }
    at = (at + 1) & slotMask
  }
  if (termCount === MAX_TERMS) return
  if (terms + <usize>(termCount + 1) * TERM_BYTES > termsEnd) growTerms()
  if (wordsUsed + MAX_WORD_BYTES + 16 > wordsEnd) growWords()
  const term = terms + <usize>termCount * TERM_BYTES
  store<u32>(term, <u32>wordsUsed)
  store<u32>(term, length, 4)
  const size: u32 = (length + 8) & ~7
  for (let from: u32 = 0; from < size; from += 8) store<u64>(wordsUsed + from, load<u64>(word + from))
  wordsUsed += size
  store<u32>(slots + <usize>at * SLOT_BYTES, tag | (termCount + 1))
  const one = known + <usize>termCount * KNOWN_BYTES
  store<u64>(one, hash)
  store<u32>(one, 0, COUNT)
  addPosting(one, termCount++)
  if (termCount * 10 > slotMask * 7) growSlots()
}

function tagOf(hash: u64): u32 {
  return <u32>(hash >>> 32) & ~NUMBER_MASK
}

function mix(hash: u64, eight: u64): u64 {
  // biome-ignore lint/correctness/noPrecisionLoss: a 64-bit integer here
  const mixed = (hash ^ eight) * 0x9e3779b97f4a7c15
  return mixed ^ (mixed >>> 32)
}

function finishHash(hash: u64): u64 {
  // biome-ignore lint/correctness/noPrecisionLoss: a 64-bit integer here
  const mixed = hash * 0xd6e8feb86659fd93
  return mixed ^ (mixed >>> 32)
}

/** The length need not be hashed, because words contain no zeros. */
function hashOf(word: usize, length: u32): u64 {
  let hash: u64 = 0
  for (let at: u32 = 0; at < length; at += 8) hash = mix(hash, load<u64>(word + at))
  return finishHash(hash)
}

function count(one: usize, number: u32): void {
  const last = load<u32>(one, LAST)
  if (last < firstPosting) return addPosting(one, number)
  const place = postings + <usize>last * POSTING_BYTES
  const posting = load<u32>(place, 4)
  if (posting >>> 24 < MAX_FREQUENCY) store<u32>(place, posting + (1 << 24), 4)
}

function addPosting(one: usize, number: u32): void {
  if (postings + <usize>(postingCount + 1) * POSTING_BYTES > postingsEnd) growPostings()
  const place = postings + <usize>postingCount * POSTING_BYTES
  store<u32>(place, number)
  store<u32>(place, document | (1 << 24), 4)
  store<u32>(one, postingCount++, LAST)
  store<u32>(one, load<u32>(one, COUNT) + 1, COUNT)
}

function growTerms(): void {
  const bytes = termsEnd - terms
  const grown = allocate(bytes * 2)
  memory.copy(grown, terms, bytes)
  terms = grown
  termsEnd = top
  const knownBytes = knownEnd - known
  const grownKnown = allocate(knownBytes * 2)
  memory.copy(grownKnown, known, knownBytes)
  known = grownKnown
  knownEnd = top
}

function growPostings(): void {
  const bytes = postingsEnd - postings
  const grown = allocate(bytes * 2)
  memory.copy(grown, postings, bytes)
  postings = grown
  postingsEnd = top
}

/** Words keep their addresses, so the new region continues the old one. */
function growWords(): void {
  words = allocate(1 << 21)
  wordsEnd = top
  wordsUsed = words
}

function growSlots(): void {
  const size = (slotMask + 1) * 2
  slots = allocate(<usize>size * SLOT_BYTES)
  slotMask = size - 1
  memory.fill(slots, 0, <usize>size * SLOT_BYTES)
  for (let number: u32 = 0; number < termCount; number++) {
    const hash = load<u64>(known + <usize>number * KNOWN_BYTES)
    let at = <u32>hash & slotMask
    while (load<u32>(slots + <usize>at * SLOT_BYTES) !== 0) at = (at + 1) & slotMask
    store<u32>(slots + <usize>at * SLOT_BYTES, tagOf(hash) | (number + 1))
  }
}

// Writing the segment

/** Numbers of the terms while they are sorted, each with eight bytes of its word. */
let order: usize = 0
let keys: usize = 0

/** Writes all terms, sorted by the bytes of their words. After it, only `reset` may be called. */
export function finish(): void {
  order = allocate(<usize>termCount * 4)
  keys = allocate(<usize>termCount * 8)
  sortByFirstBytes()
  const grouped = groupPostings()
  blocks = allocate(<usize>postingCount * 7 + <usize>termCount * (MAX_WORD_BYTES + 32) + 64)
  blockEnds = allocate(<usize>termCount * 4 + 4)
  blockCount = 0
  let at = blocks
  let start = at
  let before: usize = 0
  let from: u32 = 0
  let sum: u64 = 0
  for (let place: u32 = 0; place < termCount; place++) {
    sum += wordAhead(place + WORDS_AHEAD)
    const number = <usize>load<u32>(order + <usize>place * 4)
    const term = terms + number * TERM_BYTES
    const size = load<u32>(known + number * KNOWN_BYTES, COUNT)
    let end = writeEntry(at, term, at === start ? 0 : before, grouped + <usize>from * 4, size)
    if (at > start && end - start > BLOCK_BYTES) {
      store<u32>(blockEnds + usize(blockCount++) * 4, <u32>(at - blocks))
      start = at
      end = writeEntry(at, term, 0, grouped + <usize>from * 4, size)
    }
    at = end
    before = term
    from += size
  }
  if (at > start) store<u32>(blockEnds + usize(blockCount++) * 4, <u32>(at - blocks))
  ignored = sum
}

const WORDS_AHEAD: u32 = 8

/** Loads a word that is written soon, for the same reason as `addPending` loads slots. */
function wordAhead(place: u32): u64 {
  if (place >= termCount) return 0
  const number = <usize>load<u32>(order + <usize>place * 4)
  return load<u64>(<usize>load<u32>(terms + number * TERM_BYTES)) + load<u64>(known + number * KNOWN_BYTES)
}

/** Number of different ranks. */
const RANKS: u32 = 39
const BEYOND_ASCII: u32 = 38

/** Orders bytes of words, with few different ranks: end of the word, digits, `_`, small letters, all others. */
function rankOf(byte: u32): u32 {
  return byte >= 128 ? BEYOND_ASCII : byte >= 97 ? byte - 85 : byte >= 95 ? 11 : byte >= 48 ? byte - 47 : 0
}

/** Words with different ranks are in the order of these. */
function firstRanks(key: u64): usize {
  const first = rankOf(<u32>(key >>> 56))
  const second = first === BEYOND_ASCII ? 0 : rankOf(<u32>(key >>> 48) & 0xff)
  const third = first === BEYOND_ASCII || second === BEYOND_ASCII ? 0 : rankOf(<u32>(key >>> 40) & 0xff)
  return <usize>((first * RANKS + second) * RANKS + third)
}

/** Distributes all terms by their first three bytes, because sorting many small ranges takes fewer steps than a large one. */
function sortByFirstBytes(): void {
  const ends = allocate(RANKS * RANKS * RANKS * 4)
  memory.fill(ends, 0, RANKS * RANKS * RANKS * 4)
  for (let number: u32 = 0; number < termCount; number++) {
    const place = ends + firstRanks(keyOf(number, 0)) * 4
    store<u32>(place, load<u32>(place) + 1)
  }
  let start: u32 = 0
  for (let range: u32 = 0; range < RANKS * RANKS * RANKS; range++) {
    const place = ends + <usize>range * 4
    const size = load<u32>(place)
    store<u32>(place, start)
    start += size
  }
  for (let number: u32 = 0; number < termCount; number++) {
    const key = keyOf(number, 0)
    const place = ends + firstRanks(key) * 4
    const at = load<u32>(place)
    store<u32>(place, at + 1)
    store<u32>(order + <usize>at * 4, number)
    store<u64>(keys + <usize>at * 8, key)
  }
  let from: u32 = 0
  for (let range: u32 = 0; range < RANKS * RANKS * RANKS; range++) {
    const end = load<u32>(ends + <usize>range * 4)
    if (end - from > 1) sortRange(<i32>from, <i32>end, 0)
    from = end
  }
}

/** Eight bytes of a word, or zero after its end. */
function keyOf(number: u32, depth: u32): u64 {
  const term = terms + <usize>number * TERM_BYTES
  return depth < load<u32>(term, 4) ? bswap<u64>(load<u64>(<usize>load<u32>(term) + depth)) : 0
}

/** Sorts a range by the words from byte `depth` on, eight bytes at a time. */
function sortWords(from: i32, to: i32, depth: u32): void {
  for (let at = from; at < to; at++) store<u64>(keys + <usize>at * 8, keyOf(load<u32>(order + <usize>at * 4), depth))
  sortRange(from, to, depth)
}

/** The same, if `keys` has the bytes at `depth`. */
function sortRange(from: i32, to: i32, depth: u32): void {
  sortKeys(from, to - 1)
  for (let first = from; first < to; ) {
    const key = load<u64>(keys + <usize>first * 8)
    let next = first + 1
    while (next < to && load<u64>(keys + <usize>next * 8) === key) next++
    if (next - first > 1 && (key & 0xff) !== 0) {
      sortWords(first, next, depth + 8)
      // The inner call overwrote the keys of this range only.
    }
    first = next
  }
}

/** Quicksort of `keys` together with `order`. */
function sortKeys(from: i32, to: i32): void {
  let low = from
  let high = to
  while (high - low > 12) {
    const pivot = load<u64>(keys + <usize>((low + high) >> 1) * 8)
    let left = low
    let right = high
    while (left <= right) {
      while (load<u64>(keys + <usize>left * 8) < pivot) left++
      while (load<u64>(keys + <usize>right * 8) > pivot) right--
      if (left <= right) swap(left++, right--)
    }
    if (right - low < high - left) {
      sortKeys(low, right)
      low = left
    } else {
      sortKeys(left, high)
      high = right
    }
  }
  for (let at = low + 1; at <= high; at++)
    for (let place = at; place > low; place--) {
      if (load<u64>(keys + <usize>(place - 1) * 8) <= load<u64>(keys + <usize>place * 8)) break
      swap(place - 1, place)
    }
}

function swap(a: i32, b: i32): void {
  const keyA = keys + <usize>a * 8
  const keyB = keys + <usize>b * 8
  const key = load<u64>(keyA)
  store<u64>(keyA, load<u64>(keyB))
  store<u64>(keyB, key)
  const orderA = order + <usize>a * 4
  const orderB = order + <usize>b * 4
  const number = load<u32>(orderA)
  store<u32>(orderA, load<u32>(orderB))
  store<u32>(orderB, number)
}

/** Groups the postings by term, in the order of the terms. */
function groupPostings(): usize {
  // By number of the term, where its next posting goes.
  const places = allocate(<usize>termCount * 4)
  let start: u32 = 0
  for (let place: u32 = 0; place < termCount; place++) {
    const number = <usize>load<u32>(order + <usize>place * 4)
    store<u32>(places + number * 4, start)
    start += load<u32>(known + number * KNOWN_BYTES, COUNT)
  }
  const grouped = allocate(<usize>postingCount * 4)
  for (let at: u32 = 0; at < postingCount; at++) {
    const posting = postings + <usize>at * POSTING_BYTES
    const next = places + <usize>load<u32>(posting) * 4
    const place = load<u32>(next)
    store<u32>(next, place + 1)
    store<u32>(grouped + <usize>place * 4, load<u32>(posting, 4))
  }
  return grouped
}

/** @param before the previous term of the block, or 0. @returns the end */
function writeEntry(to: usize, term: usize, before: usize, list: usize, size: u32): usize {
  const word = <usize>load<u32>(term)
  const length = load<u32>(term, 4)
  let shared: u32 = 0
  if (before !== 0) {
    const known = <usize>load<u32>(before)
    const limit = min(length, load<u32>(before, 4))
    while (shared < limit && load<u8>(word + shared) === load<u8>(known + shared)) shared++
  }
  const rest = length - shared
  let at = to
  store<u8>(at++, <u8>((min(shared, LONG) << 4) | min(rest, LONG)))
  if (shared >= LONG) store<u8>(at++, <u8>shared)
  if (rest >= LONG) store<u8>(at++, <u8>rest)
  // Bytes after the word are overwritten below.
  for (let from = shared; from < length; from += 8) store<u64>(at + from - shared, load<u64>(word + from))
  at += rest
  const first = load<u32>(list)
  if (size === 1 && first >>> 24 === 1) return writeNumber(at, (first & DOCUMENT_MASK) << 1)
  // The length comes before the list, and takes at most 5 bytes.
  const bits = at + 5
  const bytes = <u32>(writePostingBits(bits, list, size) - bits)
  at = writeNumber(at, (bytes << 1) | 1)
  memory.copy(at, bits, bytes)
  return at + bytes
}

// The same as `src/search/segments/postings.ts`.
let bitsAt: usize = 0
let pendingBits: u32 = 0
let pendingCount: u32 = 0

/** @returns the end */
function writePostingBits(to: usize, list: usize, size: u32): usize {
  const last = load<u32>(list + <usize>(size - 1) * 4) & DOCUMENT_MASK
  const mean = (((last + 1) * 11) >>> 4) / size
  const parameter = mean > 1 ? min(MAX_PARAMETER, 31 - clz(mean)) : 0
  bitsAt = to
  pendingBits = 0
  pendingCount = 0
  putBits(parameter, PARAMETER_BITS)
  let next: u32 = 0
  for (let one: u32 = 0; one < size; one++) {
    const posting = load<u32>(list + <usize>one * 4)
    const number = posting & DOCUMENT_MASK
    const skipped = number - next
    next = number + 1
    const quotient = skipped >>> parameter
    if (quotient >= ESCAPE) {
      putBits((1 << ESCAPE) - 1, ESCAPE)
      putBits(skipped, ESCAPED_BITS)
    } else {
      putBits((1 << (quotient + 1)) - 2, quotient + 1)
      putBits(skipped & ((1 << parameter) - 1), parameter)
    }
    const more = (posting >>> 24) - 1
    if (more === 0) putBits(0, 1)
    else {
      putBits(1, 1)
      putBits(more, (31 - clz(more)) * 2 + 1)
    }
  }
  if (pendingCount > 0) putBits((1 << (8 - pendingCount)) - 1, 8 - pendingCount)
  return bitsAt
}

/** @param count at most 24 */
function putBits(value: u32, count: u32): void {
  pendingBits = (pendingBits << count) | value
  pendingCount += count
  while (pendingCount >= 8) {
    pendingCount -= 8
    store<u8>(bitsAt++, <u8>(pendingBits >>> pendingCount))
    pendingBits &= (1 << pendingCount) - 1
  }
}

function writeNumber(to: usize, number: u32): usize {
  let at = to
  let rest = number
  while (rest > 127) {
    store<u8>(at++, <u8>((rest & 127) | 128))
    rest >>>= 7
  }
  store<u8>(at++, <u8>rest)
  return at
}
