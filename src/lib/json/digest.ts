/** Tells whether an object is still what it was when something was put beside it. */
import { sha256 } from '../hash.ts'
import { type Fields, toJsonText } from '../unknown-values.ts'

/** A check sum of the object's JSON without one of its keys. */
export function digestWithout(object: Fields, except: string): string {
  const { [except]: _, ...rest } = object
  return digestOfText(toJsonText(rest))
}

/** @param json of the object, compact */
export const digestOfText = (json: string): string => sha256(json).slice(0, 16)
