/** Words that the code once had for things that the field has terms for: `.github/STYLE.md` says which. */
export interface BannedWord {
  readonly name: string;
  /** In comments, strings and documents. */
  readonly pattern: RegExp;
  readonly instead: string;
}

export const bannedWords: readonly BannedWord[] = [
  {
    name: 'round of a loop',
    pattern: /\brounds?\b(?! (?:robin|trip|up|down|to|towards|half))/gi,
    instead: 'iteration',
  },
  { name: 'goes round', pattern: /\b(?:go(?:es|ing)?|went|ways?) round\b/gi, instead: 'iterates; back edge' },
  { name: 'way', pattern: /\bways?\b(?! (?:round|to go))/gi, instead: 'path; alternative; method' },
  {
    name: 'told as',
    pattern: /\btold(?: as| of| for| by| apart| from)?\b/gi,
    instead: 'reported; distinguished; determined by',
  },
  { name: 'tells', pattern: /\btell(?:s|ing)?\b/gi, instead: 'reports, states, returns, determines' },
  { name: 'says', pattern: /\b(?:says?|said)\b/gi, instead: 'specifies, states' },
  { name: 'nobody', pattern: /\bnobody\b/gi, instead: 'unspecified; passive voice' },
  { name: 'somebody', pattern: /\bsomebody\b/gi, instead: 'the user, the caller' },
  { name: 'whom', pattern: /\bwhom\b/gi, instead: 'that, which' },
  { name: 'whatever', pattern: /\bwhatever\b/gi, instead: 'any; regardless of' },
  { name: 'stands', pattern: /\bstand(?:s|ing)?\b|\bstood\b/gi, instead: 'is at, appears in; represents' },
  { name: 'beside', pattern: /\bbesides?\b/gi, instead: 'next to; in addition to; other than' },
  {
    name: 'meets',
    pattern: /\bmeets?\b|\bmet\b|\bmeeting\b/gi,
    instead: 'satisfies; synchronizes; reconverges; overlaps',
  },
  {
    name: 'holds something',
    pattern: /\b(?:file|folder|set|map|list|array|table|register|memory|text|report|that) holds?\b/gi,
    instead: 'contains',
  },
  { name: 'held against', pattern: /\bheld against\b/gi, instead: 'compared with, checked against' },
  { name: 'rests on', pattern: /\brests? on\b/gi, instead: 'depends on' },
  { name: 'rest of a division', pattern: /\brests? of (?:a |the )?divisions?\b/gi, instead: 'remainder' },
  { name: 'lies in', pattern: /\b(?:lies?|lay|lying)\b/gi, instead: 'is in, is located' },
  { name: 'apart', pattern: /\bapart\b(?!\()/gi, instead: 'disjoint, non-overlapping; separate' },
  { name: 'alike', pattern: /\balike\b/gi, instead: 'identical; in the same way' },
  { name: 'turn', pattern: /\b(?:in |its |a )turns?\b/gi, instead: 'scheduling slot, step of an interleaving' },
  {
    name: 'hands over',
    pattern: /\bhand(?:s|ed|ing)?[ -](?:over|on|out)\b/gi,
    instead: 'publishes; forwards; returns',
  },
  { name: 'anew', pattern: /\banew\b/gi, instead: 'again, from scratch' },
  { name: 'behind', pattern: /\bbehind\b/gi, instead: 'after' },
  { name: 'in front', pattern: /\bin front\b/gi, instead: 'before, preceding' },
  { name: 'is none', pattern: /\b(?:is|are) none\b|\b(?:is|are) no [a-z]+\b/gi, instead: 'is not; there is no' },
  { name: 'null where', pattern: /\b(?:null|undefined|Error|empty) where\b/gi, instead: 'null if' },
  { name: 'so many', pattern: /\b(?:so|as) (?:many|much)\b/gi, instead: 'up to n, the number of' },
  { name: 'alone', pattern: /\balone\b/gi, instead: 'only' },
  { name: 'in place of', pattern: /\bin place of\b/gi, instead: 'instead of' },
  {
    name: 'of its own',
    pattern: /\bof (?:its|their) own\b|\bby (?:itself|themselves)\b/gi,
    instead: 'separate; separately',
  },
  { name: 'natural', pattern: /\bnatural(?:ly)?\b/gi, instead: 'representative' },
  { name: 'tied', pattern: /\bt(?:ies|ied)\b/gi, instead: 'constraint, constrained' },
  {
    name: 'taken for granted',
    pattern: /\btaken for granted\b|\btaken to be\b|\btakes? it that\b/gi,
    instead: 'assumed',
  },
  { name: 'defect', pattern: /\bdefects?\b/gi, instead: 'internal error (of Selvage); bug (of a kernel)' },
  { name: 'broken kernel', pattern: /\bbroken kernels?\b/gi, instead: 'racy kernel' },
  { name: 'machine', pattern: /\bthe machine\b/gi, instead: 'the interpreter' },
  { name: 'dear', pattern: /\bdear(?:er|est)?\b/gi, instead: 'expensive, costlier' },
  { name: 'drawn', pattern: /\bdrawn\b|\bdraws\b/gi, instead: 'generated; samples' },
  { name: 'mostly', pattern: /\bmostly\b/gi, instead: 'usually' },
  {
    name: 'save for',
    pattern: /\bsave (?:for|that)\b|\bbut for\b|\bnothing but\b|\ball but\b/gi,
    instead: 'except for; only',
  },
];
