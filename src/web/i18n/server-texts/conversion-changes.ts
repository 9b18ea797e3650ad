/** What a conversion changes and cannot keep, by codes; why a hand-off cannot be. */
import type { LossItem, RepairItem, WarningItem } from '../../../model/api/convert.ts'
import { WARNING_TEXTS_JA } from '../../../model/code-texts.ts'
import { describeChange } from '../../../model/replay/conversion-change.ts'
import { inPageLanguage, type TranslatedSentence, translateSentence, translateText } from './translate.ts'

export const changeText = (item: LossItem | RepairItem): string => translateText(describeChange(item).ja, item.what)

export const warningText = ({ code, what }: WarningItem): TranslatedSentence =>
  translateSentence(WARNING_TEXTS_JA[code], what)

/** Sentences to users of the command line are left out: the dialog has fields for what they say. */
const withoutOptions = (text: string): string =>
  text.replaceAll(/ [^.]*\s--[a-z]+[^.]*\.(?=\s|$)|[^。]*--[a-z]+[^。]*。/g, '') || text

export const refusalText = (en: string, ja: string): string => withoutOptions(inPageLanguage(en, ja))
