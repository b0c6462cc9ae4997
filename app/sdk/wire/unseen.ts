/**
 * Characters that a person does not see, that change the direction of other text, that end a line or that control a
 * terminal: they hide text from its reader, or imitate a new line. Tabs and newlines are not among them.
 */
export const UNSEEN = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|[^\P{Cc}\t\n]/gu;
