from playwright.sync_api import sync_playwright

with sync_playwright() as d:
    b = d.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    for fmt in ("A4", "Letter"):
        for land in (False, True):
            t = b.new_page()
            t.goto("file:///tmp/i57a/alarm.html#HRBP=HIGH&CVP=LOW")
            t.wait_for_selector("html[data-hatched=yes]")
            t.pdf(path=f"/tmp/i57a/alarm-{fmt}-{land}.pdf", format=fmt, landscape=land)
            t.close()
    b.close()
