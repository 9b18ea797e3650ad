/** Sections of the settings, as the address names them: `/settings?section=backup`. */
import { isOffered } from '../navigation/offers.ts'

const OWN_SECTIONS = ['appearance', 'agents', 'backup', 'server', 'token'] as const

/** Those of the server of this page. */
export const settingsSections = (): readonly (typeof OWN_SECTIONS)[number][] =>
  isOffered('machine') ? OWN_SECTIONS : ['appearance', 'server']
