/** Finds in the text as it was said what was found in its normal form, whose characters are fewer or more. */
import { withoutIgnored } from './characters.ts'
import type { Place } from './find.ts'

/** Nothing composes with what stands before one of these: here a text may be cut before it is normalised. */
const INERT = /[\x00-\x7f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]/g
/** A character and what may compose with it: marks, the half-width voicing marks, and the later letters of a Korean syllable. */
const CLUSTER = /[\s\S][\p{M}\uff9e\uff9f\u1160-\u11ff\u3131-\u318e\uffa0-\uffdc]*/gu
const BLOCK = 512

interface Block {
  readonly start: number
  readonly normalStart: number
  readonly text: string
}

/** From places in the normal form to places in the text. */
export function placesIn(text: string, normal: string): (place: Place) => Place {
  if (text === normal) return (place) => place
  const blocks = blocksOf(text)
  return ([start, end]) => [clusterAt(blocks, start)[0], clusterAt(blocks, Math.max(start, end - 1))[1]]
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = []
  for (let start = 0, normalStart = 0; start < text.length; ) {
    INERT.lastIndex = start + BLOCK
    const block = text.slice(start, INERT.exec(text)?.index ?? text.length)
    blocks.push({ start, normalStart, text: block })
    start += block.length
    normalStart += normalLength(block)
  }
  return blocks
}

/** The characters of the text that became the one at `at` of the normal form. */
function clusterAt(blocks: readonly Block[], at: number): Place {
  const block = blocks.findLast((one) => one.normalStart <= at)
  if (!block) return [0, 0]
  let left = at - block.normalStart
  for (const { 0: cluster, index } of block.text.matchAll(CLUSTER)) {
    let start = block.start + index
    for (const piece of apart(cluster)) {
      left -= normalLength(piece)
      if (left < 0) return [start, start + piece.length]
      start += piece.length
    }
  }
  return [block.start + block.text.length, block.start + block.text.length]
}

/** The characters of a cluster where each stays by itself; all of it where some compose, change places or vanish. */
function apart(cluster: string): readonly string[] {
  const characters = Array.from(cluster)
  if (characters.length === 1) return characters
  const normal = characters.map(normalOf)
  return !normal.includes('') && normal.join('') === normalOf(cluster) ? characters : [cluster]
}

const normalOf = (text: string): string => withoutIgnored(text.normalize('NFKC'))
const normalLength = (text: string): number => normalOf(text).length
