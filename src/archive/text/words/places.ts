/** Finds in the text as it was said what was found in its normal form, whose characters are fewer or more. */
import { normalise, removeIgnored } from './characters.ts'
import type { TextRange } from './find.ts'

/** What may compose with the character before it: marks, the half-width voicing marks, and the later letters of a Korean syllable. */
const COMPOSES = '\\p{M}\\uff9e\\uff9f\\u1160-\\u11ff\\u3131-\\u318e\\uffa0-\\uffdc'
/** Before one of these a text may be cut before it is normalised. */
const INERT = new RegExp(`[^${COMPOSES}]`, 'gu')
const CLUSTER = new RegExp(`[\\s\\S][${COMPOSES}]*`, 'gu')
const BLOCK_LENGTH = 512

interface TextBlock {
  readonly start: number
  readonly normalStart: number
  readonly text: string
}

/** From places in the normal form to places in the text. */
export function originalRanges(text: string, normal: string): (range: TextRange) => TextRange {
  if (text === normal) return (range) => range
  const blocks = blocksOf(text)
  return ([start, end]) => [clusterAt(blocks, start)[0], clusterAt(blocks, Math.max(start, end - 1))[1]]
}

function blocksOf(text: string): readonly TextBlock[] {
  const blocks: TextBlock[] = []
  for (let start = 0, normalStart = 0; start < text.length; ) {
    INERT.lastIndex = start + BLOCK_LENGTH
    const block = text.slice(start, INERT.exec(text)?.index ?? text.length)
    blocks.push({ start, normalStart, text: block })
    start += block.length
    normalStart += normalLength(block)
  }
  return blocks
}

/** The characters of the text that became the one at `at` of the normal form. */
function clusterAt(blocks: readonly TextBlock[], at: number): TextRange {
  const block = blocks.findLast((one) => one.normalStart <= at)
  if (!block) return [0, 0]
  let remaining = at - block.normalStart
  for (const { 0: cluster, index } of block.text.matchAll(CLUSTER)) {
    let start = block.start + index
    for (const piece of splitCluster(cluster)) {
      remaining -= normalLength(piece)
      if (remaining < 0) return [start, start + piece.length]
      start += piece.length
    }
  }
  return [block.start + block.text.length, block.start + block.text.length]
}

/** The characters of a cluster where each stays by itself; all of it where some compose, change places or vanish. */
function splitCluster(cluster: string): readonly string[] {
  const characters = Array.from(cluster)
  if (characters.length === 1) return characters
  const normal = characters.map(normalFormOf)
  return !normal.includes('') && normal.join('') === normalFormOf(cluster) ? characters : [cluster]
}

const normalFormOf = (text: string): string => removeIgnored(normalise(text))
const normalLength = (text: string): number => normalFormOf(text).length
