"""The workbench: local web pages for loading, exploring, comparing, deciding and publishing.

**What it is.** A second face of the library, next to the command line: every page calls the same functions on
the same files, so both show the same figures and write the same folders. Nothing but its command imports it,
and it uses a short list of the library's modules, which a test holds.

**How a request runs.** The `guards` decide who may send it. A module of ``routes/`` finds the project, the
store and the candidates in ``state/``, lets ``views/`` compute what the page shows, and renders a template.
A submitted form is defined and parsed in ``forms/``; its values go into the project file, comments kept.

**What may take long.** Reading data, making releases and writing reports are tasks in threads, one at a time
(`state.tasks`); a page waits for a second and then shows a loading page that asks again. Explorations run in
processes of their own (`state.jobs`), which end with the server. The first page imports nothing heavy, and
the other pages are imported while a person reads it.

**Where state is.** In the project file, the store and published folders. What the server remembers besides is
one `State` object, and all of it can be computed again.
"""
