"""What is missing, how, and what that permits: looked at before anything is learned.

`patterns` counts what is missing together; `at_random_tests` asks whether values are missing
completely at random, or at random; `em_on_learned_graph` whether another method would say something
else; `diagnosis` puts it all together and says it in words.
"""
