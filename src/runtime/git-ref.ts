/** What `git check-ref-format --branch` refuses. Invisible characters, and `<` and `>`, in which Slack puts links, as well. */
const refused = /[\s\p{C}~^:?*[\\<>]|\.\.|@\{|\/\/|(?:^|\/)\.|\.lock(?:\/|$)|[./]$|^[-/]|^(?:@|HEAD)?$/u;

/** Returns whether a text can be the name of a branch or a tag. */
export const isGitRef = (name: string): boolean => name.length <= 200 && !refused.test(name);
