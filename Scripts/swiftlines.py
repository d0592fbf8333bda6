"""Separates code, comments and string literals in Swift and C files."""
import re

TOKEN = re.compile(
    r"""(?P<line>//[^\n]*)"""
    r"""|(?P<open>/\*)"""
    r"""|(?P<pounds>\#*)(?P<quotes>\"\"\"|\")"""
    r"""|(?P<character>'(?:\\.|[^'\\\n])')"""
    r"""|(?P<brace>[(){}\n])""", re.VERBOSE)


class Split:
    """The comments, string literals and lines with code of a text, by line number from 1."""

    def __init__(self, text):
        self.comments, self.strings, self.code = {}, {}, set()
        self.text, self.place, self.number = text, 0, 1
        self.read(until=None)

    def note(self, text, comments, strings=False):
        """Records a piece of the text and steps over it."""
        for index, line in enumerate(text.split("\n")):
            self.number += index > 0
            if line.strip():
                if comments:
                    self.comments[self.number] = self.comments.get(self.number, "") + line
                else:
                    self.code.add(self.number)
                if strings:
                    self.strings[self.number] = self.strings.get(self.number, "") + line
        self.place += len(text)

    def read(self, until):
        """Reads code up to the parenthesis that ends an interpolation, or to the end."""
        depth = 0
        while match := TOKEN.search(self.text, self.place):
            self.note(self.text[self.place:match.start()], comments=False)
            if match["line"]:
                self.note(match["line"], comments=True)
            elif match["open"]:
                self.block()
            elif match["quotes"]:
                self.note(match[0], comments=False)
                self.string(match["quotes"], match["pounds"])
            else:
                self.note(match[0], comments=False)
                depth += {"(": 1, ")": -1}.get(match[0], 0)
                if until and depth < 0:
                    return
        self.note(self.text[self.place:], comments=False)

    def block(self):
        depth, end = 0, self.place
        for match in re.compile(r"/\*|\*/").finditer(self.text, self.place):
            depth += 1 if match[0] == "/*" else -1
            end = match.end()
            if not depth:
                break
        self.note(self.text[self.place:end], comments=True)

    def string(self, quotes, pounds):
        special = re.compile(
            r"(?P<end>" + quotes + pounds + r")|\\" + pounds + r"(?:(?P<interpolation>\()|[^(])"
            + ("" if len(quotes) == 3 else r"|(?P<newline>\n)"), re.DOTALL)
        while match := special.search(self.text, self.place):
            self.note(self.text[self.place:match.end()], comments=False, strings=True)
            if match["interpolation"]:
                self.read(until=")")
            elif match["end"] or match.groupdict().get("newline"):
                return
        self.note(self.text[self.place:], comments=False)
