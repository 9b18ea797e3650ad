/** What a conversion changes and cannot keep, by codes; why a hand-off cannot be. */
import type { LossItem, RepairItem, WarningItem } from '../../../model/api/convert.ts'
import { sentenceOf } from '../../../model/replay/change.ts'
import { WARNINGS } from '../../../model/told/warnings.ts'
import { type Told, told, wholly, worded } from './told.ts'

export const changeTold = (item: LossItem | RepairItem): string => wholly(sentenceOf(item).ja, item.what)

export const warningTold = ({ code, what }: WarningItem): Told => told(WARNINGS[code], what)

/** Sentences to users of the command line are left out: the dialog has fields for what they say. */
const withoutOptions = (text: string): string =>
  text.replaceAll(/ [^.]*\s--[a-z]+[^.]*\.(?=\s|$)|[^。]*--[a-z]+[^。]*。/g, '') || text

export const refusalTold = (en: string, ja: string): string => withoutOptions(worded(en, ja))
