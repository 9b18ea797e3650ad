/** Losses, repairs and warnings of a conversion, and why a handoff is not possible. */
import type { LossItem, RepairItem, WarningItem } from '../../model/api/convert.ts'
import { describeChange } from '../../model/replay/step.ts'
import { inPageLanguage, type TranslatedSentence, translateSentence, translateText } from './server-texts.ts'

export const changeText = (item: LossItem | RepairItem): string => translateText(describeChange(item).ja, item.what)

export const warningText = ({ what, what_ja }: WarningItem): TranslatedSentence => translateSentence(what_ja, what)

/** Drops sentences about command-line options: the dialog has fields for them. */
const withoutOptions = (text: string): string =>
  text.replaceAll(/ [^.]*\s--[a-z]+[^.]*\.(?=\s|$)|[^。]*--[a-z]+[^。]*。/g, '') || text

export const refusalText = (en: string, ja: string): string => withoutOptions(inPageLanguage(en, ja))
