/** What a conversion changes and cannot keep, by codes; why a hand-off cannot be. */
import type { LossItem, RepairItem, WarningItem } from '../../../model/api/convert.ts'
import { sentenceOf } from '../../../model/replay/change.ts'
import { WARNINGS } from '../../../model/told/warnings.ts'
import { type Told, told, wholly, worded } from './told.ts'

export const changeTold = (item: LossItem | RepairItem): string => wholly(sentenceOf(item).ja, item.what)

export const warningTold = ({ code, what }: WarningItem): Told => told(WARNINGS[code], what)

/** What is said to users of the command line is left out: the dialog has fields for it. */
const OPTIONS = { en: / [^.]*\s--[a-z]+[^.]*\.(?=\s|$)/g, ja: /[^。]*--[a-z]+[^。]*。/g } as const

export const refusalTold = (en: string, ja: string): string =>
  worded(en.replaceAll(OPTIONS.en, ''), ja.replaceAll(OPTIONS.ja, '') || ja)
